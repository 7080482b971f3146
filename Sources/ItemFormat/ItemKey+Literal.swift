extension ItemKey: ExpressibleByStringLiteral {
    /// A key that is written out in the source. A literal that is empty, too long or contains NUL is a
    /// programming error and traps; use ``init(_:)`` for strings from elsewhere.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

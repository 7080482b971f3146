extension ItemKey: ExpressibleByStringLiteral {
    /// A key that is written out in the source. An empty or too long literal is a programming error
    /// and traps; use ``init(_:)`` for a string that comes from elsewhere.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension FileName: ExpressibleByStringLiteral {
    /// A name that is written out in the source. A literal that is not a file name is a programming
    /// error and traps; use ``init(_:)`` or ``init(sanitizing:)`` for strings from elsewhere.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension FileName: ExpressibleByStringLiteral {
    /// A name that is written out in the source. A literal that is no file name is a programming
    /// error and traps; use ``init(_:)`` or ``init(sanitizing:)`` for a string that comes from elsewhere.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

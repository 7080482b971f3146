/// The use of a command, for the end of its help and of its section in the manual page.
struct Examples {
    /// Arguments as they follow `cachectl`, and their meaning.
    let lines: [(arguments: String, meaning: String)]

    init(_ lines: (arguments: String, meaning: String)...) {
        self.lines = lines
    }

    /// The heading of the examples in a discussion.
    static let title = "EXAMPLES:"

    /// A discussion that ends with the examples.
    func discussion(_ text: String = "") -> String {
        let examples = lines.map { "  # \($0.meaning)\n  cachectl \($0.arguments)" }
        return ([text].filter { !$0.isEmpty } + ["\(Self.title)\n" + examples.joined(separator: "\n")])
            .joined(separator: "\n\n")
    }
}

/// How a command is used, at the end of its help and of its page in the manual.
struct Examples {
    /// Arguments, as they stand behind `cachectl`, and what they do.
    let lines: [(arguments: String, meaning: String)]

    init(_ lines: (arguments: String, meaning: String)...) {
        self.lines = lines
    }

    /// What comes before the examples in a discussion.
    static let title = "EXAMPLES:"

    /// A discussion that ends with the examples.
    func discussion(_ text: String = "") -> String {
        let examples = lines.map { "  # \($0.meaning)\n  cachectl \($0.arguments)" }
        return ([text].filter { !$0.isEmpty } + ["\(Self.title)\n" + examples.joined(separator: "\n")])
            .joined(separator: "\n\n")
    }
}

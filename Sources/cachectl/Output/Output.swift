internal import FileSystem

/// What a command prints on standard output: lines for people, or JSON.
///
/// Text is collected and written in large pieces. Strings that come from elsewhere are escaped by
/// whoever makes the line, see `escapedForTerminal`.
final class Output {
    let isJSON: Bool
    private var pending = ""

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    func print(_ line: String) throws(FileSystemError) {
        pending += line
        pending += "\n"
        if pending.utf8.count >= 64 << 10 { try flush() }
    }

    /// Prints one JSON object.
    func print(json value: some Encodable) throws {
        try print(JSON.text(of: value, isPretty: true))
    }

    /// Prints one JSON object on one line.
    func print(jsonLine value: some Encodable) throws {
        try print(JSON.text(of: value, isPretty: false))
    }

    /// Prints an array of JSON objects, each on a line of its own.
    func print(json values: some Collection<some Encodable>) throws {
        guard !values.isEmpty else { return try print("[]") }
        var prefix = "[\n"
        for value in values {
            pending += prefix
            pending += try JSON.text(of: value, isPretty: false)
            prefix = ",\n"
            if pending.utf8.count >= 64 << 10 { try flush() }
        }
        try print("\n]")
    }

    func flush() throws(FileSystemError) {
        let text = pending
        pending = ""
        if !text.isEmpty { try StandardStreams.writeOutput(text) }
    }
}

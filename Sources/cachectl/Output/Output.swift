internal import FileSystem

/// What a command prints on standard output: lines for people, or JSON.
///
/// Text is collected and written in large pieces. Strings that come from elsewhere are escaped by
/// whoever makes the line, see `escapedForTerminal`.
final class Output {
    let isJSON: Bool
    /// Whether nothing but what was asked for is printed.
    let isQuiet: Bool
    private var pending = ""

    init(isJSON: Bool, isQuiet: Bool = false) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
    }

    /// Prints a line that says what was done, and not what was asked for.
    func confirm(_ line: String) throws(FileSystemError) {
        if !isQuiet { try print(line) }
    }

    /// Prints a line about a deed; of a dry run, whose answer it is.
    func report(_ line: String, isDryRun: Bool) throws(FileSystemError) {
        if isDryRun { try print(line) } else { try confirm(line) }
    }

    func print(_ line: String) throws(FileSystemError) {
        pending += line
        pending += "\n"
        if pending.utf8.count >= 64 << 10 { try flush() }
    }

    /// Prints one JSON object; see ``print(json:as:)`` for several.
    func print(json object: some Encodable) throws {
        try print(JSON.document(object, isPretty: true))
    }

    /// Prints one JSON object on one line.
    func print(jsonLine object: some Encodable) throws {
        try print(JSON.document(object, isPretty: false))
    }

    /// Prints one JSON object with an array of objects in it, each on a line of its own.
    ///
    /// - Parameters:
    ///   - name: That of the array.
    ///   - head: An object whose values come before it.
    func print(
        json objects: some Collection<some Encodable>, as name: String, behind head: some Encodable
    ) throws {
        // Without its closing brace.
        let text = try JSON.text(of: head, isPretty: false).dropLast()
        try print(json: objects, as: name, opening: text.count > 1 ? text + "," : text)
    }

    /// Prints one JSON object with nothing but an array of objects in it, each on a line of its own.
    ///
    /// - Parameter name: That of the array.
    func print(json objects: some Collection<some Encodable>, as name: String) throws {
        try print(json: objects, as: name, opening: "{")
    }

    private func print(
        json objects: some Collection<some Encodable>, as name: String, opening: Substring
    ) throws {
        var separator = "\n"
        pending += "\(opening)\n\"\(name)\" : ["
        for object in objects {
            pending += separator
            pending += try JSON.text(of: object, isPretty: false)
            separator = ",\n"
            if pending.utf8.count >= 64 << 10 { try flush() }
        }
        try print((objects.isEmpty ? "" : "\n") + "],\n\"schemaVersion\" : \(JSON.schemaVersion)\n}")
    }

    func flush() throws(FileSystemError) {
        let text = pending
        pending = ""
        if !text.isEmpty { try StandardStreams.writeOutput(text) }
    }
}

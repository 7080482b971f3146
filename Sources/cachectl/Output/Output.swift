internal import PrefetchFileSystem
internal import SystemPackage

/// The output of a command on standard output: lines of text, or JSON.
///
/// Text is buffered, and escaped for a terminal.
final class Output {
    let isJSON: Bool
    /// Whether to print only requested output, and no confirmations.
    let isQuiet: Bool
    /// Whether a closed pipe (`EPIPE`) ends the command. Otherwise the remaining output is discarded, and the exit code
    /// reflects the command's result.
    var stopsOnBrokenPipe = false
    private var hasReader = true
    private var pending: [UInt8] = []

    init(isJSON: Bool, isQuiet: Bool = false) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
    }

    /// Prints a result: as JSON, or as lines of text.
    ///
    /// - Parameter isConfirmation: Whether the lines only confirm an action, so that `--quiet` hides them.
    func report(
        _ json: @autoclosure () -> JSONObject, _ lines: @autoclosure () -> [String],
        isConfirmation: Bool = false
    ) throws {
        if isJSON {
            try print(json: json())
        } else if !isConfirmation || !isQuiet {
            try print(lines())
        }
    }

    /// Prints a line that `--quiet` hides.
    func confirm(_ line: String) throws(FileSystemError) { if !isQuiet { try print(line) } }

    func print(_ lines: [String]) throws(FileSystemError) {
        for line in lines { try print(line) }
    }

    func print(_ line: String) throws(FileSystemError) { try print(verbatim: line.escapedForTerminal.utf8) }

    func print(verbatim line: some Sequence<UInt8>) throws(FileSystemError) {
        pending += line
        pending.append(UInt8(ascii: "\n"))
        if pending.count >= 64 << 10 { try flush() }
    }

    /// Prints one JSON object on several lines.
    func print(json object: JSONObject) throws {
        try print(verbatim: JSON.document(object, isPretty: true).utf8)
    }

    /// Prints one JSON object on one line.
    func print(jsonLine object: JSONObject) throws {
        try print(verbatim: JSON.document(object, isPretty: false).utf8)
    }

    /// Prints a JSON object that contains an array, streaming the elements, which may not fit into memory.
    ///
    /// - Parameter head: An object whose members precede the array.
    func print(
        json objects: some Collection<JSONObject>, as name: String, behind head: JSONObject = [:]
    ) throws {
        // Without its closing brace.
        let opening = try JSON.text(of: head, isPretty: false).dropLast()
        pending += "\(opening)\(opening.count > 1 ? "," : "")\n\"\(name)\" : [".utf8
        var separator = "\n"
        for object in objects {
            pending += separator.utf8
            pending += try JSON.text(of: object, isPretty: false).utf8
            separator = ",\n"
            if pending.count >= 64 << 10 { try flush() }
        }
        let end = (objects.isEmpty ? "" : "\n") + "],\n\"schemaVersion\" : \(JSON.schemaVersion)\n}"
        try print(verbatim: end.utf8)
    }

    func flush() throws(FileSystemError) {
        let bytes = pending
        pending = []
        guard hasReader, !bytes.isEmpty else { return }
        do throws(FileSystemError) {
            try bytes.withBytes { bytes throws(FileSystemError) in try StandardStreams.write(bytes) }
        } catch {
            guard error.errno == .brokenPipe, !stopsOnBrokenPipe else { throw error }
            hasReader = false
        }
    }
}

internal import PrefetchFileSystem
internal import SystemPackage

/// The output of a command on standard output: lines of text, or JSON.
///
/// Text is buffered. The caller must escape untrusted strings; see `escapedForTerminal`.
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

    /// Prints a line that confirms an action, which `--quiet` hides.
    ///
    /// - Parameter evenIfQuiet: Whether the line is the requested output, as in a dry run.
    func confirm(_ line: String, evenIfQuiet: Bool = false) throws(FileSystemError) {
        if !isQuiet || evenIfQuiet { try print(line) }
    }

    func print(_ lines: [String]) throws(FileSystemError) {
        for line in lines { try print(line) }
    }

    func print(_ line: String) throws(FileSystemError) { try print(bytes: line.utf8) }

    /// Prints the bytes of a path verbatim.
    func print(_ path: FilePath) throws(FileSystemError) { try print(bytes: path.bytes) }

    private func print(bytes: some Sequence<UInt8>) throws(FileSystemError) {
        pending += bytes
        pending.append(UInt8(ascii: "\n"))
        if pending.count >= 64 << 10 { try flush() }
    }

    /// Prints one JSON object on several lines.
    func print(json object: JSONObject) throws { try print(JSON.document(object, isPretty: true)) }

    /// Prints one JSON object on one line.
    func print(jsonLine object: JSONObject) throws {
        try print(JSON.document(object, isPretty: false))
    }

    /// Prints a JSON object that contains an array, streaming the elements, which may not fit into memory.
    ///
    /// - Parameters:
    ///   - name: The name of the array.
    ///   - head: An object whose members precede the array.
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
        try print((objects.isEmpty ? "" : "\n") + "],\n\"schemaVersion\" : \(JSON.schemaVersion)\n}")
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

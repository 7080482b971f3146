internal import Foundation
internal import Logging
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

    /// Prints a line that `--quiet` hides, or, with `--json`, an object with that line as `done`.
    func confirm(_ line: String) throws { try report(["done": line], [line], isConfirmation: true) }

    func print(_ lines: [String]) throws(FileSystemError) {
        for line in lines { try print(line) }
    }

    func print(_ line: String) throws(FileSystemError) { try print(verbatim: line.escapedForTerminal.utf8) }

    func print(verbatim line: some Sequence<UInt8>) throws(FileSystemError) {
        pending += line
        pending.append(UInt8(ascii: "\n"))
        if pending.count >= 64 << 10 { try flush() }
    }

    /// - Parameter isPretty: Whether the object takes several lines.
    func print(json object: JSONObject, isPretty: Bool = true) throws {
        try print(verbatim: JSON.document(object, isPretty: isPretty).utf8)
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

enum StandardStreams {
    // Others in a test, which runs a command within its own process.
    @TaskLocal static var input = FileDescriptor.standardInput
    @TaskLocal static var output = FileDescriptor.standardOutput
    @TaskLocal static var error = FileDescriptor.standardError

    /// Makes writing to the standard streams safe.
    ///
    /// Ignores `SIGPIPE` and `SIGXFSZ`, so that writing to a closed pipe, or beyond `ulimit -f`, fails instead of killing the
    /// process before it can close the cache. If one of the three descriptors is closed, opens `/dev/null` in its place,
    /// in the wrong direction so that using it fails: otherwise the next opened file, perhaps a database, would get that
    /// number and receive the output.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            _ = open("/dev/null", (number == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }

    static var isErrorTerminal: Bool { isatty(error.rawValue) == 1 }

    static var isInputTerminal: Bool { isatty(input.rawValue) == 1 }

    /// Whether standard output is a terminal that supports cursor control.
    static var isOutputScreen: Bool {
        isatty(output.rawValue) == 1
            && ![nil, "", "dumb"].contains(ProcessInfo.processInfo.environment["TERM"])
    }

    static func write(_ text: String) throws(FileSystemError) {
        try Array(text.utf8).withBytes { bytes throws(FileSystemError) in try write(bytes) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) {
        do {
            try output.writeAll(bytes)
        } catch let failure {
            throw FileSystemError("write", path: "standard output", errno: failure as? Errno ?? .ioError)
        }
    }

    /// Writes one line, escaped, to standard error.
    static func writeError(_ line: String) { writeErrorVerbatim(line.escapedForTerminal + "\n") }

    /// Writes text that may contain terminal controls.
    static func writeErrorVerbatim(_ text: String) {
        do {
            try error.writeAll(text.utf8)
        } catch {
            // There is nowhere left to report this.
        }
    }
}

/// Writes the library's log to standard error, one escaped line per event.
struct StandardErrorLog: LogHandler {
    /// That of the command: the log comes from any thread.
    private let error = StandardStreams.error
    var logLevel = Logger.Level.error
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = metadata.merging(event.metadata ?? [:]) { _, own in own }.sorted { $0.key < $1.key }
        let text = metadata.reduce(event.message.description) { $0 + " \($1.key)=\($1.value)" }
        StandardStreams.$error.withValue(error) {
            StandardStreams.writeError("cachectl: \(event.level): \(text)")
        }
    }
}

internal import Foundation
internal import Logging
internal import PrefetchFileSystem
internal import SystemPackage

/// The process's standard streams.
enum StandardStreams {
    /// Makes writing to the standard streams safe.
    ///
    /// Ignores `SIGPIPE`, so that writing to a closed pipe fails instead of killing the process before it can close
    /// the cache. If one of the three descriptors is closed, opens `/dev/null` in its place, in the wrong direction
    /// so that using it fails: otherwise the next opened file, perhaps a database, would get that number and receive
    /// the output.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for number in STDIN_FILENO...STDERR_FILENO {
            do {
                try FileDescriptor(rawValue: number).duplicate().close()
            } catch {
                _ = open("/dev/null", (number == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
            }
        }
    }

    static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Whether standard output is a terminal that supports cursor control.
    static var isOutputScreen: Bool {
        isatty(STDOUT_FILENO) == 1 && ![nil, "", "dumb"].contains(environment("TERM"))
    }

    /// Whether colours are wanted (no-color.org).
    static var isColoured: Bool { [nil, ""].contains(environment("NO_COLOR")) }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    static func write(_ text: String) throws(FileSystemError) {
        try Array(text.utf8).withBytes { bytes throws(FileSystemError) in try write(bytes) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) {
        do {
            try FileDescriptor.standardOutput.writeAll(bytes)
        } catch {
            throw FileSystemError("write", path: "standard output", errno: error as? Errno ?? .ioError)
        }
    }

    /// Writes one line, escaped, to standard error.
    static func writeError(_ line: String) { writeErrorVerbatim(line.escapedForTerminal + "\n") }

    /// Writes text that may contain terminal controls.
    static func writeErrorVerbatim(_ text: String) {
        do {
            try FileDescriptor.standardError.writeAll(text.utf8)
        } catch {
            // There is nowhere left to report this.
        }
    }
}

/// Writes the library's log to standard error, one escaped line per event.
struct StandardErrorLog: LogHandler {
    var logLevel = Logger.Level.error
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = metadata.merging(event.metadata ?? [:]) { _, own in own }.sorted { $0.key < $1.key }
        let text = metadata.reduce(event.message.description) { $0 + " \($1.key)=\($1.value)" }
        StandardStreams.writeError("cachectl: \(event.level): \(text)")
    }
}

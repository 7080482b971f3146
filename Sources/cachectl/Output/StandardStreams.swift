internal import FileSystem
internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The process's standard streams.
enum StandardStreams {
    /// Makes sure that writing to a stream does just that.
    ///
    /// A reader that goes away becomes an error of the write instead of the death of the process, so
    /// that the cache is closed in order. And where the caller closed one of the three descriptors,
    /// `/dev/null` takes its number, opened the wrong way round so that its use fails: the next file
    /// to be opened, a database perhaps, would get the number otherwise, and the output with it.
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

    /// Whether somebody looks at standard output, on a terminal that can do more than print one line below the
    /// other.
    static var isOutputScreen: Bool {
        isatty(STDOUT_FILENO) == 1 && ![nil, "", "dumb"].contains(environment("TERM"))
    }

    /// Whether colours are wanted (no-color.org).
    static var isColoured: Bool { [nil, ""].contains(environment("NO_COLOR")) }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    static func writeOutput(_ text: String) throws(FileSystemError) {
        try write(text, to: STDOUT_FILENO)
    }

    static func write(_ text: String, to descriptor: CInt) throws(FileSystemError) {
        var text = text
        do {
            _ = try text.withUTF8 { try FileDescriptor(rawValue: descriptor).writeAll($0) }
        } catch {
            throw Self.error(error)
        }
    }

    static func writeOutput(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) {
        do {
            try FileDescriptor.standardOutput.writeAll(bytes)
        } catch {
            throw Self.error(error)
        }
    }

    /// Writes one line, escaped, to standard error.
    static func writeError(_ line: String) {
        writeErrorVerbatim(line.escapedForTerminal + "\n")
    }

    /// Writes text with the terminal's own controls in it.
    static func writeErrorVerbatim(_ text: String) {
        do {
            try FileDescriptor.standardError.writeAll(text.utf8)
        } catch {
            // There is no other place to complain at.
        }
    }

    private static func error(_ error: any Error) -> FileSystemError {
        FileSystemError("write", path: "standard output", errno: error as? Errno ?? .ioError)
    }
}

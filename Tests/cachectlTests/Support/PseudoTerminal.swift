import FileSystemTestSupport
import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A terminal that a test looks at and types on, and the command that runs on it.
final class PseudoTerminal {
    private let user: FileHandle
    private let program: FileHandle
    private let process = ChildProcess()
    private var hasEnded = false
    /// All that the command has written.
    private(set) var written = ""

    init(
        _ arguments: [String], columns: UInt16 = 80, lines: UInt16 = 24, environment: [String: String] = [:],
        in container: Container
    ) throws {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var (master, slave): (CInt, CInt) = (-1, -1)
        try #require(openpty(&master, &slave, nil, nil, &size) == 0)
        user = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        program = FileHandle(fileDescriptor: slave, closeOnDealloc: true)

        process.executableURL = URL(filePath: try Tool.path)
        process.arguments = arguments + ["--container", container.root.path]
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": container.folder.url.path, "TERM": "xterm"]
            .merging(environment) { _, own in own }
        process.standardInput = program
        process.standardOutput = program
        process.standardError = program
        try process.run()
    }

    deinit {
        if !hasEnded { send(SIGKILL) }
    }

    /// The settings that the terminal has now.
    var localModes: tcflag_t {
        var settings = termios()
        tcgetattr(program.fileDescriptor, &settings)
        return settings.c_lflag
    }

    /// Reads until the command has written `text`.
    func wait(for text: String) throws {
        while !written.contains(text) {
            let more = user.availableData
            // What never comes is not waited for any longer.
            try #require(!more.isEmpty && written.utf8.count < 300_000)
            written += String(decoding: more, as: UTF8.self)
        }
    }

    func forgetWritten() {
        written = ""
    }

    func type(_ keys: String) throws {
        try user.write(contentsOf: Data(keys.utf8))
    }

    func resize(columns: UInt16, lines: UInt16) {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(user.fileDescriptor, UInt(TIOCSWINSZ), &size)
        // A terminal sends it to those that it controls, which this process's children are not.
        send(SIGWINCH)
    }

    func send(_ signal: Int32) {
        _ = kill(process.processIdentifier, signal)
    }

    /// Waits until a signal has stopped the process.
    func waitUntilStopped(in folder: TemporaryFolder) throws {
        let state = ["-o", "state=", "-p", "\(process.processIdentifier)"]
        while try !Tool.start("/bin/ps", state, in: folder).text.hasPrefix("T") {}
    }

    /// Waits for the end of the process, and reads what it left.
    func outcome() throws -> Int32 {
        if !hasEnded { process.waitUntilExit() }
        hasEnded = true
        // Behind all that it has written, some of which may still be on its way.
        let end = "\u{1}end"
        try program.write(contentsOf: Data(end.utf8))
        try wait(for: end)
        written.removeLast(end.count)
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
}

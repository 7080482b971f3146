internal import FileSystemTestSupport
internal import Foundation
internal import Synchronization

/// A process of this very program, whose notes go to its parent.
final class Child: Sendable {
    /// Hears each note as it comes, on a thread of its own.
    typealias Listener = @Sendable (Note) -> Void

    private let process: Mutex<ChildProcess>
    private let identifier: pid_t
    private let input: FileHandle
    private let points: AsyncStream<String>
    private let hasEnded = AsyncStream<Never>.makeStream()

    /// The path of this program.
    static let program = Bundle.main.executablePath ?? CommandLine.arguments[0]

    /// - Parameter command: A program to start it by, with its arguments.
    init(_ arguments: [String], by command: [String] = [], listener: @escaping Listener) throws {
        // Whoever writes to a process that was killed is told by an error.
        signal(SIGPIPE, SIG_IGN)
        let process = ChildProcess()
        let (input, output) = (Pipe(), Pipe())
        let whole = command + [Self.program] + arguments
        process.executableURL = URL(filePath: whole[0])
        process.arguments = Array(whole.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        let ended = hasEnded.continuation
        process.terminationHandler = { _ in ended.finish() }
        try process.run()
        identifier = process.processIdentifier
        self.process = Mutex(process)
        self.input = input.fileHandleForWriting
        let (points, continuation) = AsyncStream.makeStream(of: String.self)
        self.points = points
        let reading = output.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let more = reading.availableData
                if more.isEmpty { break }
                rest.append(more)
                guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { continue }
                for line in String(decoding: rest[..<end], as: UTF8.self).split(separator: "\n") {
                    guard let note = Note(line) else { continue }
                    listener(note)
                    if case .reached(let point) = note { continuation.yield(point) }
                }
                rest = Data(rest[rest.index(after: end)...])
            }
            continuation.finish()
        }
    }

    /// Waits until the process reaches a point, or ends.
    ///
    /// - Returns: Whether it got there. Points are to be waited for in their order.
    func reaches(_ point: String) async -> Bool {
        for await reached in points where reached == point { return true }
        return false
    }

    /// Waits until the process has ended and all that it said was heard.
    ///
    /// - Returns: Its exit code; `nil` when it was killed.
    func end() async -> Int32? {
        for await _ in points {}
        for await _ in hasEnded.stream {}
        return process.withLock { $0.terminationReason == .exit ? $0.terminationStatus : nil }
    }

    /// Says something to the process. One that has ended does not hear it; who waits for it finds out.
    func tell(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Foundation.write(input.fileDescriptor, bytes, bytes.count)
    }

    func kill() {
        _ = Foundation.kill(identifier, SIGKILL)
    }
}

/// The other end: what the parent of this process says.
enum Parent {
    /// The lines of the parent. When there are no more, because it has died, this process has no purpose either.
    static func lines() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            exit(1)
        }
        return lines
    }
}

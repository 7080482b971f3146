internal import Foundation
internal import Synchronization

/// Handles signals on a dispatch queue instead of letting them end the process. Only the second terminating signal
/// still does.
final class SignalHandler {
    private final class FirstSignal: Sendable {
        let value = Mutex<CInt?>(nil)

        /// - Returns: Whether `number` is the first signal.
        func note(_ number: CInt) -> Bool {
            value.withLock { value in
                defer { value = value ?? number }
                return value == nil
            }
        }
    }

    private let numbers: [CInt]
    private let sources: [any DispatchSourceSignal]
    private let first = FirstSignal()

    /// - Parameters:
    ///   - urgent: Called at the second terminating signal, just before the process ends.
    ///   - body: Called at every other signal.
    init(
        _ numbers: [CInt], urgent: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (CInt) -> Void
    ) {
        let queue = DispatchQueue(label: "cachectl.signals")
        self.numbers = numbers
        sources = numbers.map { [first] number in
            // Dispatch sources receive signals even if they are ignored.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if [SIGINT, SIGTERM, SIGHUP].contains(number), !first.note(number) {
                    urgent()
                    _exit(128 + number)
                }
                body(number)
            }
            source.resume()
            return source
        }
    }

    /// The first terminating signal.
    var firstSignal: CInt? { first.value.withLock(\.self) }

    /// Restores the default actions of the signals: from now on, any of them ends the process.
    func end() {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }
}

/// A self-pipe for signals, so that one `poll` waits for signals and keys.
final class SignalPipe {
    /// Becomes readable when a signal arrives.
    let readEnd: CInt
    private let handler: SignalHandler

    /// - Parameter urgent: Called at the second terminating signal, just before the process ends.
    init(_ numbers: [CInt], urgent: @escaping @Sendable () -> Void) throws(CommandFailure) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.inputOutput, "cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        let writeEnd = ends[1]
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = ends[0]
        handler = SignalHandler(numbers, urgent: urgent) { number in
            var byte = UInt8(truncatingIfNeeded: number)
            // A failed write to a full pipe is harmless: the reader wakes anyway.
            _ = write(writeEnd, &byte, 1)
        }
    }

    /// The oldest pending signal.
    func next() -> CInt? {
        var byte: UInt8 = 0
        return read(readEnd, &byte, 1) == 1 ? CInt(byte) : nil
    }

    deinit {
        handler.end()
        // The write end stays open: a handler may still be using it.
        close(readEnd)
    }
}

internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Signals that are handled on a dispatch queue instead of ending the process.
private final class SignalSources {
    private let numbers: [CInt]
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: [CInt], _ body: @escaping @Sendable (CInt) -> Void) {
        let queue = DispatchQueue(label: "cachectl.signals")
        self.numbers = numbers
        sources = numbers.map { number in
            // Dispatch sources receive signals even if they are ignored.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { body(number) }
            source.resume()
            return source
        }
    }

    /// Restores the default actions of the signals.
    func restore() {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }
}

/// Records the first terminating signal. The second one ends the process immediately.
private final class FirstSignal: Sendable {
    private let signal = Mutex<CInt?>(nil)

    var value: CInt? { signal.withLock(\.self) }

    /// - Parameter urgent: Called just before the process ends.
    func note(_ number: CInt, _ urgent: () -> Void = {}) {
        let isFirst = signal.withLock { signal in
            defer { signal = signal ?? number }
            return signal == nil
        }
        guard !isFirst else { return }
        urgent()
        _exit(128 + number)
    }
}

/// Lets the first SIGINT or SIGTERM end the work gracefully. The second one ends the process.
final class InterruptionWatch {
    private let first = FirstSignal()
    private let sources: SignalSources

    /// - Parameter body: Called once, at the first signal.
    init(_ body: @escaping @Sendable () -> Void) {
        sources = SignalSources([SIGINT, SIGTERM]) { [first] number in
            first.note(number)
            body()
        }
    }

    var firstSignal: CInt? { first.value }

    /// Restores the default actions: from now on, any signal ends the process.
    func end() { sources.restore() }
}

/// A self-pipe for signals, so that one `poll` waits for signals and keys.
final class SignalPipe {
    /// Becomes readable when a signal arrives.
    let readEnd: CInt
    private let sources: SignalSources

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
        let first = FirstSignal()
        sources = SignalSources(numbers) { number in
            if [SIGINT, SIGTERM, SIGHUP].contains(number) { first.note(number, urgent) }
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
        sources.restore()
        // The write end stays open: a handler may still be using it.
        close(readEnd)
    }
}

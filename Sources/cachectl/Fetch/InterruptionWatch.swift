internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Lets the first Ctrl-C, or request to terminate, end the work in order. The second one ends the process.
final class InterruptionWatch {
    private final class First: Sendable {
        private let signal = Mutex<CInt?>(nil)

        var value: CInt? { signal.withLock(\.self) }

        /// - Returns: Whether it is the first signal.
        func note(_ number: CInt) -> Bool {
            signal.withLock { signal in
                if signal != nil { return false }
                signal = number
                return true
            }
        }
    }

    private static let signals = [SIGINT, SIGTERM]

    private let first = First()
    private let sources: [any DispatchSourceSignal]

    /// - Parameter body: Called once, at the first signal.
    init(_ body: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "cachectl.InterruptionWatch")
        sources = Self.signals.map { [first] number in
            // An ignored signal does not end the process, and still reaches the source.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if first.note(number) { body() } else { _exit(128 + number) }
            }
            source.resume()
            return source
        }
    }

    /// The first signal received.
    var firstSignal: CInt? { first.value }

    /// Restores the signals: from here on, each ends the process.
    func end() {
        for source in sources { source.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
    }
}

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

    var firstSignal: CInt? { first.value.withLock(\.self) }

    /// Restores the default actions of the signals: from now on, any of them ends the process.
    func end() {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }
}

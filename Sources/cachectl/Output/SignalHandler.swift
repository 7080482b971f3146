internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization

/// Handles signals on a thread of its own instead of letting them end the process. Only the second terminating signal
/// still does.
final class SignalHandler {
    private final class FirstSignal: Sendable {
        /// `timeout` signals the process and then its group, which is one wish.
        private static let repetition = Duration.milliseconds(100)

        let value = Mutex<(number: CInt, time: ContinuousClock.Instant)?>(nil)

        enum Turn { case first, repeated, second }

        func note(_ number: CInt) -> Turn {
            value.withLock { first in
                let now = ContinuousClock.now
                guard let (former, time) = first else {
                    first = (number, now)
                    return .first
                }
                return number == former && now - time < Self.repetition ? .repeated : .second
            }
        }
    }

    /// Calls the handler in use on a thread of its own, which hears of signals by a pipe: little can be done while one is
    /// handled.
    private enum Listener {
        static let handler = Mutex<(@Sendable (CInt) -> Void)?>(nil)

        /// The end of the pipe to write to; `nil` where no thread can be started, or no pipe made.
        static let writeEnd: CInt? = {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let readEnd = ends[0]
            let isHeard = startThread(named: "signals") {
                var number: UInt8 = 0
                while true {
                    guard read(readEnd, &number, 1) == 1 else { continue }
                    handler.withLock(\.self)?(CInt(number))
                }
            }
            if isHeard { return ends[1] }
            for end in ends { close(end) }
            return nil
        }()
    }

    private let numbers: [CInt]
    private let first = FirstSignal()

    /// Where no thread can be started, signals keep their default actions.
    ///
    /// - Parameters:
    ///   - urgent: Called at the second terminating signal, just before the process ends.
    ///   - body: Called at every other signal.
    init(
        _ numbers: [CInt], urgent: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (CInt) -> Void
    ) {
        self.numbers = Listener.writeEnd == nil ? [] : numbers
        Listener.handler.withLock { [first] handler in
            handler = { number in
                if [SIGINT, SIGTERM, SIGHUP].contains(number) {
                    switch first.note(number) {
                    case .first: break
                    case .repeated: return
                    case .second:
                        urgent()
                        _exit(128 + number)
                    }
                }
                body(number)
            }
        }
        for number in self.numbers {
            signal(number) { number in
                let error = errno
                var byte = UInt8(truncatingIfNeeded: number)
                if let end = Listener.writeEnd { _ = write(end, &byte, 1) }
                errno = error
            }
        }
    }

    /// Ends the process at the first signal, as without a handler, but with a failure as JSON. Signals that are ignored, as
    /// by `nohup`, stay so.
    static func reportingAsJSON() -> SignalHandler {
        let heard = [SIGINT, SIGTERM, SIGHUP].filter { number in
            let former = signal(number, SIG_DFL)
            let isIgnored = unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
            if isIgnored { signal(number, SIG_IGN) }
            return !isIgnored
        }
        return SignalHandler(heard) { number in
            let code = ExitCode.ended(by: number)
            CommandFailure(code, nil).report(asJSON: true)
            _exit(code.rawValue)
        }
    }

    var firstSignal: CInt? { first.value.withLock { $0?.number } }

    /// Restores the default actions of the signals: from now on, any of them ends the process. After a first one, it may
    /// still be repeated, so all stay as they are: a second one ends the process anyway.
    func end() {
        if firstSignal != nil { return }
        for number in numbers { signal(number, SIG_DFL) }
    }
}

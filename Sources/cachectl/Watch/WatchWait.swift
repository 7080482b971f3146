#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Why a wait ended.
enum WatchWake: Hashable {
    /// The time is over.
    case due
    case resized
    /// The user pressed q.
    case quit
    case signal(CInt)
    /// Ctrl-Z.
    case suspend
    /// Standard output has no reader any more.
    case readerGone
}

/// Waits for the next look, for keys, for signals and for the end of the reader.
final class WatchWait {
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP]

    private let signals: SignalPipe
    private let isScreen: Bool
    private var readsKeys: Bool

    /// - Parameter isScreen: Whether standard output is a terminal; otherwise it has a reader that may go away.
    init(_ signals: SignalPipe, isScreen: Bool) {
        self.signals = signals
        self.isScreen = isScreen
        readsKeys = isScreen && StandardStreams.isInputTerminal
    }

    func wait(for duration: Duration) -> WatchWake {
        if let wake = nextSignal() { return wake }
        // `poll` ignores negative descriptors.
        var polled = [
            pollfd(fd: signals.readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: readsKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isScreen ? -1 : STDOUT_FILENO, events: 0, revents: 0),
        ]
        let count = poll(&polled, nfds_t(polled.count), Int32(clamping: duration.milliseconds))
        guard count > 0 else { return .due }
        if polled[0].revents != 0, let wake = nextSignal() { return wake }
        if polled[2].revents != 0 { return .readerGone }
        if polled[1].revents != 0 { return takeKey() ?? wait(for: .zero) }
        return .due
    }

    private func nextSignal() -> WatchWake? {
        switch signals.next() {
        case nil: nil
        case SIGWINCH?: .resized
        case SIGTSTP?: .suspend
        case let signal?: .signal(signal)
        }
    }

    private func takeKey() -> WatchWake? {
        var key: UInt8 = 0
        guard read(STDIN_FILENO, &key, 1) == 1 else {
            // The terminal has no more input.
            readsKeys = false
            return .resized
        }
        return [UInt8(ascii: "q"), UInt8(ascii: "Q")].contains(key) ? .quit : .resized
    }
}

extension Duration {
    /// Rounded up.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

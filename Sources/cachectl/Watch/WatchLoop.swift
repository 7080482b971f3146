internal import Foundation

/// The main loop of `cachectl watch`: sample, show, wait.
///
/// The sample, the display, the waiting and the clock are injected.
struct WatchLoop {
    enum End: Hashable {
        /// Ended by the user, by a closed pipe, or after the requested number of samples.
        case done
        case signal(CInt)
    }

    static let maximumEvents = 200

    let interval: Duration
    /// The number of samples; `nil` for no limit.
    let count: Int?
    let uptime: () -> Duration
    let sample: () async throws -> CacheSample
    /// Shows a sample, the events since the previous one, and all events kept.
    let show: (CacheSample, [WatchEvent], _ all: [WatchEvent]) throws -> Void
    let redraw: (CacheSample, _ all: [WatchEvent]) throws -> Void
    let wait: (Duration) -> WatchWake
    /// Suspends the process (`SIGSTOP`) until it is continued.
    let suspend: () throws -> Void

    func run() async throws -> End {
        var all: [WatchEvent] = []
        var samples = 0
        while true {
            let start = uptime()
            let current = try await sample()
            let events = WatchEvent.events(of: current.entries)
            all = (all + events).suffix(Self.maximumEvents)
            try show(current, events, all)
            samples += 1
            if let count, samples >= count { return .done }
            if let end = try waitForNext(from: start, current, all) { return end }
        }
    }

    /// - Returns: `nil` when it is time for the next sample.
    private func waitForNext(from start: Duration, _ current: CacheSample, _ all: [WatchEvent]) throws -> End?
    {
        // After a sample that takes longer than the interval, wait as long as it took.
        let took = uptime() - start
        let end = took > interval ? uptime() + took : start + interval
        while true {
            let left = end - uptime()
            switch wait(max(left, .zero)) {
            case .due: if uptime() >= end { return nil }
            case .quit, .brokenPipe: return .done
            case .signal(let number): return .signal(number)
            case .resized: try redraw(current, all)
            case .suspend:
                try suspend()
                try redraw(current, all)
            }
        }
    }
}

/// Why a wait ended.
enum WatchWake: Hashable {
    case due
    case resized
    /// The user pressed q.
    case quit
    case signal(CInt)
    /// Ctrl-Z.
    case suspend
    /// The reader of standard output has closed the pipe.
    case brokenPipe
}

/// Waits for the next sample, a key, a signal, or a closed pipe. Signals arrive through a pipe, so that one `poll` waits
/// for all of them.
final class WatchWait {
    private let readEnd: CInt
    private let signals: SignalHandler
    private let isScreen: Bool
    private var readsKeys: Bool

    /// - Parameter screen: Standard output if it is a terminal; otherwise its reader may close the pipe.
    init(_ screen: TerminalScreen?) throws(CommandFailure) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.inputOutput, "cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let writeEnd = ends[1]
        readEnd = ends[0]
        let numbers = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP]
        signals = SignalHandler(numbers, urgent: { screen?.leave() }) { number in
            var byte = UInt8(truncatingIfNeeded: number)
            // A failed write to a full pipe is harmless: the reader wakes anyway.
            _ = write(writeEnd, &byte, 1)
        }
        isScreen = screen != nil
        readsKeys = isScreen && StandardStreams.isInputTerminal
    }

    deinit {
        signals.end()
        // The write end stays open: a handler may still be using it.
        close(readEnd)
    }

    func wait(for duration: Duration) -> WatchWake {
        if let wake = nextSignal() { return wake }
        // `poll` ignores negative descriptors.
        var polled = [
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: readsKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isScreen ? -1 : STDOUT_FILENO, events: 0, revents: 0),
        ]
        var count: CInt
        // Interrupted by a signal, of which the pipe tells.
        repeat {
            count = poll(&polled, nfds_t(polled.count), Int32(clamping: duration.milliseconds))
        } while count < 0 && errno == EINTR
        guard count > 0 else { return .due }
        if polled[0].revents != 0, let wake = nextSignal() { return wake }
        if polled[2].revents != 0 { return .brokenPipe }
        if polled[1].revents != 0 { return takeKey() }
        return .due
    }

    private func nextSignal() -> WatchWake? {
        var signal: UInt8 = 0
        guard read(readEnd, &signal, 1) == 1 else { return nil }
        return switch CInt(signal) {
        case SIGWINCH: .resized
        case SIGTSTP: .suspend
        case let signal: .signal(signal)
        }
    }

    private func takeKey() -> WatchWake {
        var key: UInt8 = 0
        // At the end of input, there are no more keys.
        readsKeys = read(STDIN_FILENO, &key, 1) == 1
        return readsKeys && [UInt8(ascii: "q"), UInt8(ascii: "Q")].contains(key) ? .quit : .resized
    }
}

internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

/// The alternate screen of the terminal behind standard output, with unbuffered keys, no echo and a hidden cursor.
///
/// ``leave()`` restores the terminal. It is idempotent, and may be called from any thread.
final class TerminalScreen: Sendable {
    /// xterm's private modes: alternate screen with saved cursor (1049), cursor visibility (25), and auto-wrap (7),
    /// which is disabled so that an overlong line cannot scroll the screen.
    private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// The settings to restore; `nil` when not on the alternate screen.
    private let saved = Mutex<termios?>(nil)

    var size: TerminalSize { TerminalSize(of: STDOUT_FILENO) }

    func enter() throws(FileSystemError) {
        do throws(FileSystemError) {
            try saved.withLock { saved throws(FileSystemError) in
                if saved != nil { return }
                var settings = termios()
                guard tcgetattr(STDOUT_FILENO, &settings) == 0 else {
                    throw FileSystemError("tcgetattr", path: "standard output", errno: Errno(rawValue: errno))
                }
                saved = settings
                // Keep signals (`ISIG`) and newline translation (`ONLCR`).
                settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
                _ = tcsetattr(STDOUT_FILENO, TCSADRAIN, &settings)
                try StandardStreams.write(Self.enter)
            }
        } catch {
            leave()
            throw error
        }
    }

    func leave() {
        saved.withLock { saved in
            guard var settings = saved else { return }
            saved = nil
            do throws(FileSystemError) {
                try StandardStreams.write(Self.leave)
            } catch {
                // The terminal is gone.
            }
            _ = tcsetattr(STDOUT_FILENO, TCSADRAIN, &settings)
        }
    }

    /// Draws lines from the top, and clears the rest of the screen.
    func draw(_ lines: [String]) throws(FileSystemError) {
        let frame = "\u{1B}[H" + lines.map { "\u{1B}[2K\($0)" }.joined(separator: "\r\n") + "\u{1B}[J"
        try StandardStreams.write(frame)
    }
}

struct TerminalSize: Hashable {
    var columns: Int
    var lines: Int
}

extension TerminalSize {
    /// The size of the terminal behind a descriptor; 80 × 24 if it does not report one.
    init(of descriptor: CInt) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        columns = isKnown ? Int(size.ws_col) : 80
        lines = isKnown ? Int(size.ws_row) : 24
    }
}

/// A line made of styled runs.
struct StyledLine {
    /// The raw value is the parameter of "Select Graphic Rendition" (ECMA-48, 8.3.117). Only the eight basic colours
    /// are used: they are legible on light and dark terminals.
    enum Style: Int {
        case plain = 0, bold = 1, dim = 2, bad = 31, good = 32, warning = 33, accent = 36
    }

    private var parts: [(text: String, style: Style)] = []

    init(_ text: String = "", _ style: Style = .plain) {
        if !text.isEmpty { parts = [(text, style)] }
    }

    static func + (left: StyledLine, right: StyledLine) -> StyledLine {
        var sum = left
        sum.parts += right.parts
        return sum
    }

    /// The text with escape sequences, truncated to `columns` columns.
    func rendered(columns: Int, isColoured: Bool) -> String {
        var left = columns
        var rendered = ""
        for (text, style) in parts where left > 0 {
            let shown = text.prefix(columns: left)
            rendered += isColoured && style != .plain ? "\u{1B}[\(style.rawValue)m\(shown)\u{1B}[0m" : shown
            // A truncated part ends the line, even if a narrower later part would still fit.
            left = shown.count < text.count ? 0 : left - shown.columns
        }
        return rendered
    }
}

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

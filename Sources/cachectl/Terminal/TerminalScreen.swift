internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A terminal's alternate screen, taken while something live is shown on it.
///
/// Keys arrive one by one and without echo, and the cursor is hidden. ``leave()`` restores all of it, also from
/// another thread and more than once.
final class TerminalScreen: Sendable {
    /// xterm's private modes: alternate screen with the cursor saved (1049), cursor (25), and no wrapping (7), so
    /// that an overlong line cannot scroll the rest away.
    private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let descriptor: CInt
    /// The settings to restore while the screen is taken; without settings when the terminal reports none.
    private let taken = Mutex<Saved?>(nil)

    private struct Saved: Sendable {
        let settings: termios?
    }

    /// - Parameter descriptor: The descriptor of a terminal.
    init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    var size: TerminalSize { TerminalSize(of: descriptor) }

    func enter() throws(CommandFailure) {
        let failure = taken.withLock { taken -> CommandFailure? in
            guard taken == nil else { return nil }
            var settings = termios()
            let isKnown = tcgetattr(descriptor, &settings) == 0
            taken = Saved(settings: isKnown ? settings : nil)
            if isKnown {
                // Ctrl-C and Ctrl-Z still send signals, and a newline still begins a line.
                settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
                _ = tcsetattr(descriptor, TCSADRAIN, &settings)
            }
            return write(Self.enter)
        }
        guard let failure else { return }
        leave()
        throw failure
    }

    func leave() {
        taken.withLock { saved in
            guard let last = saved else { return }
            saved = nil
            // A terminal that is gone cannot be restored.
            _ = write(Self.leave)
            guard var settings = last.settings else { return }
            _ = tcsetattr(descriptor, TCSADRAIN, &settings)
        }
    }

    /// Shows lines from the top, and clears the rest.
    func draw(_ lines: [String]) throws(CommandFailure) {
        let frame = "\u{1B}[H" + lines.map { "\u{1B}[2K\($0)" }.joined(separator: "\r\n") + "\u{1B}[J"
        if let failure = write(frame) { throw failure }
    }

    private func write(_ text: String) -> CommandFailure? {
        do {
            try StandardStreams.write(text, to: descriptor)
            return nil
        } catch {
            return CommandFailure(error)
        }
    }
}

internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

/// The alternate screen of the terminal behind standard output, with unbuffered keys, no echo and a hidden cursor.
///
/// ``leave()`` restores the terminal. It is idempotent, and may be called from any thread.
final class TerminalScreen: Sendable {
    /// The settings to restore; `nil` when not on the alternate screen.
    private let saved = Mutex<termios?>(nil)

    func enter() throws(FileSystemError) {
        var settings = termios()
        guard tcgetattr(STDOUT_FILENO, &settings) == 0 else {
            throw FileSystemError("tcgetattr", path: "standard output", errno: Errno(rawValue: errno))
        }
        saved.withLock { [settings] in $0 = settings }
        // Keep signals (`ISIG`) and newline translation (`ONLCR`).
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        _ = tcsetattr(STDOUT_FILENO, TCSADRAIN, &settings)
        // xterm's private modes: alternate screen with saved cursor (1049), cursor visibility (25), and auto-wrap (7),
        // which is disabled so that an overlong line cannot scroll the screen.
        try StandardStreams.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    }

    func leave() {
        saved.withLock { saved in
            guard var settings = saved else { return }
            saved = nil
            _ = tcsetattr(STDOUT_FILENO, TCSADRAIN, &settings)
            do throws(FileSystemError) {
                try StandardStreams.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
            } catch {
                // The terminal is gone.
            }
        }
    }

    /// Draws lines from the top, and clears the rest of the screen.
    func draw(_ screen: WatchScreen) throws(FileSystemError) {
        let lines = screen.lines(TerminalSize(of: STDOUT_FILENO)).map { "\u{1B}[2K\($0)" }
        try StandardStreams.write("\u{1B}[H" + lines.joined(separator: "\r\n") + "\u{1B}[J")
    }
}

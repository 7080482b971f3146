internal import PrefetchFileSystem
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
    init(_ descriptor: CInt) { self.descriptor = descriptor }

    var size: TerminalSize { TerminalSize(of: descriptor) }

    func enter() throws(FileSystemError) {
        do throws(FileSystemError) {
            try taken.withLock { taken throws(FileSystemError) in
                guard taken == nil else { return }
                var settings = termios()
                let isKnown = tcgetattr(descriptor, &settings) == 0
                taken = Saved(settings: isKnown ? settings : nil)
                if isKnown {
                    // Ctrl-C and Ctrl-Z still send signals, and a newline still begins a line.
                    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
                    _ = tcsetattr(descriptor, TCSADRAIN, &settings)
                }
                try StandardStreams.write(Self.enter, to: descriptor)
            }
        } catch {
            leave()
            throw error
        }
    }

    func leave() {
        taken.withLock { saved in
            guard let last = saved else { return }
            saved = nil
            do throws(FileSystemError) {
                try StandardStreams.write(Self.leave, to: descriptor)
            } catch {
                // A terminal that is gone cannot be restored.
            }
            guard var settings = last.settings else { return }
            _ = tcsetattr(descriptor, TCSADRAIN, &settings)
        }
    }

    /// Shows lines from the top, and clears the rest.
    func draw(_ lines: [String]) throws(FileSystemError) {
        let frame = "\u{1B}[H" + lines.map { "\u{1B}[2K\($0)" }.joined(separator: "\r\n") + "\u{1B}[J"
        try StandardStreams.write(frame, to: descriptor)
    }
}

struct TerminalSize: Hashable {
    var columns: Int
    var lines: Int
}

extension TerminalSize {
    /// The size of the terminal behind a descriptor; 80 × 24 when it does not report one.
    init(of descriptor: CInt) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        columns = isKnown ? Int(size.ws_col) : 80
        lines = isKnown ? Int(size.ws_row) : 24
    }
}

/// A line for a terminal, in parts of one style each.
struct StyledLine {
    /// The raw value is the parameter of "Select Graphic Rendition" (ECMA-48, 8.3.117). Only the first eight colours
    /// are used: they are legible on light and on dark terminals.
    enum Style: Int {
        case plain = 0
        case bold = 1
        case dim = 2
        case bad = 31
        case good = 32
        case warning = 33
        case accent = 36
    }

    private(set) var parts: [(text: String, style: Style)] = []

    init(_ text: String = "", _ style: Style = .plain) {
        if !text.isEmpty { parts = [(text, style)] }
    }

    static func + (left: StyledLine, right: StyledLine) -> StyledLine {
        var sum = left
        sum.parts += right.parts
        return sum
    }

    /// The text without its styles.
    var text: String { parts.map(\.text).joined() }

    /// The text to write, of at most `columns` columns.
    func rendered(columns: Int, isColoured: Bool) -> String {
        var left = columns
        var rendered = ""
        for (text, style) in parts where left > 0 {
            let shown = text.prefix(columns: left)
            rendered += isColoured && style != .plain ? "\u{1B}[\(style.rawValue)m\(shown)\u{1B}[0m" : shown
            // The first part that does not fit whole ends the line: nothing after it may take its place.
            left = shown.count < text.count ? 0 : left - shown.columns
        }
        return rendered
    }
}

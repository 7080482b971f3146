#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

struct TerminalSize: Hashable {
    var columns: Int
    var lines: Int

    init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
    }

    /// The size of the terminal behind a descriptor; 80 × 24 when it does not report one.
    init(of descriptor: CInt) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        columns = isKnown ? Int(size.ws_col) : 80
        lines = isKnown ? Int(size.ws_row) : 24
    }
}

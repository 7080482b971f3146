internal import Foundation

/// Standard output, a whole line at a time.
enum Output {
    /// One call of the system: it is there however soon the process is killed, and lines do not mix.
    static func write(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        guard Foundation.write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else {
            // Nobody listens any more.
            exit(1)
        }
    }
}

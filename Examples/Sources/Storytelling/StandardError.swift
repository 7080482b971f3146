import Foundation

package enum StandardError {
    package static let isTerminal = isatty(STDERR_FILENO) == 1

    package static func write(_ text: String) {
        do {
            try FileHandle.standardError.write(contentsOf: Data(text.utf8))
        } catch {
            // There is no other place to report it.
        }
    }
}

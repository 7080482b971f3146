import Contenders
import Foundation

/// What of this process is in memory, in mebibytes.
enum ResidentMemory {
    static func mebibytes() throws -> Double {
        #if canImport(Darwin)
            var usage = rusage()
            guard getrusage(RUSAGE_SELF, &usage) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
            // The most that there ever was, in bytes: of a process that has only just begun, the same.
            return Double(usage.ru_maxrss) / 1_048_576
        #else
            // Not rusage: there a child inherits the figure of its parent. And /proc/self/status is a
            // sum over the processors that may lag behind.
            let path = "/proc/self/smaps_rollup"
            let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Rss:") }),
                let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
            else { throw Unexpected(description: "\(path) has no line with Rss") }
            return kibibytes / 1024
        #endif
    }
}

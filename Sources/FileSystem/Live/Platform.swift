internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The constants and calls whose names or types differ between the platforms' C libraries.
enum Platform {
    static let workingDirectory = AT_FDCWD

    static var lastError: Errno { Errno(rawValue: errno) }

    /// Repeats a call that a signal interrupts before it has any effect.
    @inline(__always)
    static func retrying<Result: SignedInteger>(
        _ operation: StaticString, _ path: FilePath? = nil, _ call: () -> Result
    ) throws(FileSystemError) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            let error = lastError
            if error != .interrupted {
                throw FileSystemError("\(operation)", path: path, errno: error)
            }
        }
    }

    /// A time of the kernel in nanoseconds. A time that `Int64` cannot hold, before 1677 or after 2262, becomes the
    /// nearest that it can: any user may give a file any time.
    static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 {
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLate) = whole.addingReportingOverflow(rest)
        return isTooLarge || isTooLate ? (seconds < 0 ? .min : .max) : sum
    }
}

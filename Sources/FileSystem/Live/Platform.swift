internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The numbers and calls whose names or types differ between the platforms' C libraries.
enum Platform {
    static let workingDirectory = AT_FDCWD

    static var lastError: Errno { Errno(rawValue: errno) }

    /// Makes a call again while it is interrupted by a signal before it did anything.
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

    /// A time of the kernel's in nanoseconds. What an `Int64` cannot hold, before 1677 and after 2262, is the nearest
    /// time that it can: anybody may give a file any time.
    static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 {
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLate) = whole.addingReportingOverflow(rest)
        return isTooLarge || isTooLate ? (seconds < 0 ? .min : .max) : sum
    }
}

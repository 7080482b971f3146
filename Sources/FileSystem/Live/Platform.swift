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
}

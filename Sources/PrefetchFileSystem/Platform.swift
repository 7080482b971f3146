internal import CPrefetchPlatform
package import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What Swift sees differently of the platforms' C libraries; the rest is in CPrefetchPlatform.
enum Platform {
    static let workingDirectory = AT_FDCWD

    static var lastError: Errno { Errno(rawValue: errno) }

    /// Retries a call that a signal interrupted before it had any effect (`EINTR`).
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

    /// The name in a directory entry. glibc declares `d_name` with a fixed size, but an entry may be shorter, so it
    /// must not be copied as a `dirent`.
    static func name(of entry: UnsafeMutablePointer<dirent>) -> UnsafePointer<CChar> {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        return UnsafePointer(
            (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
    }

    #if canImport(Darwin)
        static let openFiles = RLIMIT_NOFILE

        /// Darwin has no `O_NOATIME`; iOS volumes do not keep access times.
        static let withoutAccessTime: CInt = 0

        static let noSuchAttribute = Errno(rawValue: ENOATTR)

        /// The keys of a protected file are not available before the device is unlocked. A sandbox and a locked file
        /// (`uchg`) fail with the same error.
        static let locked = Errno.notPermitted

        /// All but the checks of downloads, which are the system's.
        static func isOfUser(_ attribute: String) -> Bool { attribute != "com.apple.quarantine" }
    #else
        static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

        static let withoutAccessTime = cplatform_o_noatime

        static let noSuchAttribute = Errno(rawValue: ENODATA)

        /// The key of an encrypted folder is not loaded (fscrypt).
        static let locked = Errno(rawValue: ENOKEY)

        /// Those of the user and the access control list; the system's own are not copied.
        static func isOfUser(_ attribute: String) -> Bool {
            attribute.hasPrefix("user.") || attribute == "system.posix_acl_access"
        }
    #endif
}

extension timespec {
    /// The rest of the seconds is not negative, even before 1970.
    init(nanoseconds time: Int64) {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
        // Clamped: where `Int` has 32 bits, `time_t` ends in 2038.
        self.init(
            tv_sec: time_t(clamping: rest < 0 ? seconds - 1 : seconds),
            tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
    }
}

#if canImport(Darwin)
    extension LiveFileSystem {
        /// `F_BARRIERFSYNC` has the drive keep the order: what follows a barrier reaches the medium only after what precedes
        /// it; a later `F_FULLFSYNC` on the same drive makes both durable (fsync(2)).
        package func order(_ file: Descriptor) throws(FileSystemError) {
            do {
                _ = try Platform.retrying("fsync") { fcntl(file.rawValue, F_BARRIERFSYNC) }
            } catch {
                guard [.notSupported, .inappropriateIOCTLForDevice, .invalidArgument].contains(error.errno)
                else { throw error }
                try synchronize(file)
            }
        }

        /// Darwin has no leases.
        package func isBeingWritten(_: Descriptor) throws(FileSystemError) -> Bool? { nil }

        /// The path of an open file (`fcntl` with `F_GETPATH`). To be used at once: it can change.
        package func path(of file: Descriptor) throws(FileSystemError) -> FilePath {
            var buffer = [UInt8](repeating: 0, count: Int(MAXPATHLEN))
            let result = buffer.withUnsafeMutableBytes { bytes -> CInt in
                guard let start = bytes.baseAddress else { return -1 }
                return fcntl(file.rawValue, F_GETPATH, start)
            }
            guard result != -1 else { throw FileSystemError("fcntl", errno: Platform.lastError) }
            return FilePath(String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self))
        }

        package func protection(of file: Descriptor) throws(FileSystemError) -> FileProtection? {
            do {
                let number = try Platform.retrying("fcntl") { fcntl(file.rawValue, F_GETPROTECTIONCLASS) }
                return Self.protectionClasses.first { $0.value == number }?.key
            } catch {
                guard error.isUnsupported else { throw error }
                return nil
            }
        }

        package func setProtection(_ protection: FileProtection, of file: Descriptor) throws(FileSystemError)
        {
            _ = try Platform.retrying("fcntl") {
                fcntl(file.rawValue, F_SETPROTECTIONCLASS, Self.protectionClasses[protection] ?? 0)
            }
        }

        /// The classes A to D of Apple's Platform Security Guide, as numbered in XNU (sys/cprotect.h).
        private static let protectionClasses: [FileProtection: CInt] = [
            .complete: 1, .completeUnlessOpen: 2, .completeUntilFirstUserAuthentication: 3, .none: 4,
        ]
    }

    // The calls on extended attributes as Linux has them, without a position and options.

    func fgetxattr(_ file: CInt, _ name: String, _ value: UnsafeMutableRawPointer?, _ size: Int) -> Int {
        fgetxattr(file, name, value, size, 0, 0)
    }

    func fsetxattr(_ file: CInt, _ name: String, _ value: UnsafeRawPointer, _ size: Int, _: CInt) -> CInt {
        fsetxattr(file, name, value, size, 0, 0)
    }

    func fremovexattr(_ file: CInt, _ name: String) -> CInt { fremovexattr(file, name, 0) }

    func flistxattr(_ file: CInt, _ names: UnsafeMutableRawPointer?, _ size: Int) -> Int {
        flistxattr(file, names, size, 0)
    }
#else
    extension LiveFileSystem {
        package func tellsWhatIsInMemory(_ folder: Descriptor) -> Bool {
            cplatform_tells_what_is_cached(folder.rawValue) == 1
        }

        package func readIfInMemory(
            _ name: FilePath, in directory: Descriptor, into buffer: UnsafeMutableRawBufferPointer
        ) throws(FileSystemError) -> Int? {
            do throws(FileSystemError) {
                return try Platform.retrying("openat2", name) {
                    name.withPlatformString {
                        cplatform_read_if_cached(directory.rawValue, $0, buffer.baseAddress, buffer.count)
                    }
                }
            } catch {
                guard error.errno == .resourceTemporarilyUnavailable else { throw error }
                return nil
            }
        }

        package func startWriting(_ file: Descriptor) {
            // The flush reports an error.
            _ = cplatform_start_writing(file.rawValue)
        }

        package func isBeingWritten(_ file: Descriptor) throws(FileSystemError) -> Bool? {
            do {
                return try Platform.retrying("fcntl") { cplatform_is_being_written(file.rawValue) } == 1
            } catch {
                // Leases are permitted only to the file's owner, and not supported by all file systems.
                guard error.isNotPermitted || error.isUnsupported else { throw error }
                return nil
            }
        }
    }
#endif

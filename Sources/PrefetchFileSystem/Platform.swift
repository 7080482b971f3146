internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import CPrefetchPlatform
    internal import Glibc
#endif

/// Constants and calls whose names or types differ between the platforms' C libraries.
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

    /// Converts a `timespec` to nanoseconds. Clamps times that `Int64` cannot represent, before 1677 or after 2262,
    /// since users can set arbitrary file times.
    static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 {
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLate) = whole.addingReportingOverflow(rest)
        return isTooLarge || isTooLate ? (seconds < 0 ? .min : .max) : sum
    }

    /// The seconds since 1970 and the rest of a time. The rest is not negative, even before 1970, as `timespec` requires.
    static func parts(ofNanoseconds time: Int64) -> (seconds: Int64, nanoseconds: Int64) {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0 ? (seconds - 1, rest + 1_000_000_000) : (seconds, rest)
    }

    /// The name in a directory entry. glibc declares `d_name` with a fixed size, but an entry may be shorter, so it
    /// must not be copied as a `dirent`.
    static func name(of entry: UnsafeMutablePointer<dirent>) -> UnsafePointer<CChar> {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        return UnsafePointer(
            (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
    }
}

/// Locks on single bytes.
extension LiveFileSystem {
    package func lockByte(_ position: Int64, of file: Descriptor) throws(FileSystemError) -> Bool {
        do {
            return try lockByte(position, of: file, .exclusive)
        } catch {
            // It is open for reading only.
            guard error.errno == .badFileDescriptor else { throw error }
            return try lockByte(position, of: file, .shared)
        }
    }

    private func lockByte(_ position: Int64, of file: Descriptor, _ mode: LockMode)
        throws(FileSystemError) -> Bool
    {
        do {
            _ = try Platform.retrying("fcntl") { Platform.setByteLock(file.rawValue, position, 1, mode) }
            return true
        } catch {
            if error.errno == .wouldBlock { return false }
            throw error
        }
    }

    package func unlockBytes(_ file: Descriptor) {
        // Fails only if there was no lock.
        _ = Platform.setByteLock(file.rawValue, 0, 0, nil)
        close(file)
    }
}

#if !canImport(Darwin)
    extension Platform {
        static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

        static func rename(
            _ oldDirectory: CInt, _ oldName: UnsafePointer<CChar>, _ newDirectory: CInt,
            _ newName: UnsafePointer<CChar>, _ mode: RenameMode
        ) -> CInt {
            switch mode {
            case .replacing: renameat(oldDirectory, oldName, newDirectory, newName)
            case .exclusive:
                cplatform_renameat2(oldDirectory, oldName, newDirectory, newName, cplatform_rename_noreplace)
            case .exchanging:
                cplatform_renameat2(oldDirectory, oldName, newDirectory, newName, cplatform_rename_exchange)
            }
        }

        static func clone(
            _ file: CInt, _ directory: CInt, _ name: UnsafePointer<CChar>, _ permissions: mode_t
        ) -> CInt {
            cplatform_clone(file, directory, name, permissions)
        }

        static func synchronize(_ file: CInt) -> CInt { fsync(file) }

        /// Linux has no barrier that leaves the data in the drive's cache.
        static func order(_ file: CInt) -> CInt { fsync(file) }

        static func startWriting(_ file: CInt) -> CInt { cplatform_start_writing(file) }

        static func readIfInMemory(
            _ directory: CInt, _ name: UnsafePointer<CChar>, _ buffer: UnsafeMutableRawBufferPointer
        ) -> Int {
            cplatform_read_if_cached(directory, name, buffer.baseAddress, buffer.count)
        }

        static func synchronizeVolume(_ file: CInt) -> CInt { cplatform_sync_volume(file) }

        static func volume(_ file: CInt, _ figures: inout VolumeFigures) -> CInt {
            var status = statvfs()
            guard fstatvfs(file, &status) == 0 else { return -1 }
            figures = VolumeFigures(
                blocks: Int64(clamping: status.f_blocks), available: Int64(clamping: status.f_bavail),
                ofBytes: Int64(clamping: status.f_frsize == 0 ? status.f_bsize : status.f_frsize))
            return 0
        }

        static func allocate(_ length: Int64, for file: CInt) -> CInt {
            cplatform_allocate(file, off_t(length))
        }

        static func getAttribute(_ file: CInt, _ name: String, _ buffer: UnsafeMutableRawBufferPointer) -> Int
        {
            cplatform_fgetxattr(file, name, buffer.baseAddress, buffer.count)
        }

        static func setAttribute(_ file: CInt, _ name: String, _ value: UnsafeRawBufferPointer) -> CInt {
            cplatform_fsetxattr(file, name, value.baseAddress, value.count)
        }

        static func removeAttribute(_ file: CInt, _ name: String) -> CInt {
            cplatform_fremovexattr(file, name)
        }

        static let noSuchAttribute = Errno(rawValue: ENODATA)

        static func setNoDump(_ file: CInt, _ enabled: Bool) -> CInt {
            cplatform_set_no_dump(file, enabled ? 1 : 0)
        }

        static func isNoDump(_ file: CInt) -> CInt { cplatform_get_no_dump(file) }

        static func birthTime(_ file: CInt, _ nanoseconds: inout Int64) -> CInt {
            cplatform_birth_time(file, &nanoseconds)
        }

        static func inode(_ directory: CInt, _ name: UnsafePointer<CChar>, _ inode: inout UInt64) -> CInt {
            cplatform_inode(directory, name, &inode)
        }

        static func lengthAndLinks(_ file: CInt, _ length: inout Int64, _ links: inout UInt64) -> CInt {
            cplatform_length_and_links(file, &length, &links)
        }

        static func isBeingWritten(_ file: CInt) -> CInt { cplatform_is_being_written(file) }

        /// - Parameter mode: `nil` to unlock.
        static func setByteLock(_ file: CInt, _ start: Int64, _ length: Int64, _ mode: LockMode?) -> CInt {
            cplatform_set_byte_lock(file, start, length, mode == .exclusive ? 2 : mode == .shared ? 1 : 0)
        }

        static let withoutAccessTime = cplatform_o_noatime

        static let seekHole = cplatform_seek_hole

        static func accessed(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_atim.tv_sec), Int64(status.st_atim.tv_nsec))
        }

        static func setAccessTime(_ file: CInt, _ nanoseconds: Int64) -> CInt {
            let time = parts(ofNanoseconds: nanoseconds)
            return cplatform_set_access_time(file, time.seconds, time.nanoseconds)
        }

        static func modified(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
        }

        static func changed(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec))
        }

        static let seekData = cplatform_seek_data

        static func punchHole(_ file: CInt, _ offset: Int64, _ length: Int64) -> CInt {
            cplatform_punch_hole(file, off_t(offset), off_t(length))
        }

        static func listAttributes(_ file: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
            cplatform_flistxattr(file, buffer.baseAddress, buffer.count)
        }

        /// Those of the user and the access control list; the system's own are not copied.
        static func isOfUser(_ attribute: String) -> Bool {
            attribute.hasPrefix("user.") || attribute == "system.posix_acl_access"
        }

        static func isDataless(_: stat) -> Bool { false }

        /// The key of an encrypted folder is not loaded (fscrypt).
        static let locked = Errno(rawValue: ENOKEY)

        static func protectionClass(_: CInt) -> CInt { 0 }

        static func protection(_: CInt) -> FileProtection? { nil }

        static func setProtection(_: FileProtection, of _: CInt) -> CInt { 0 }
    }
    extension LiveFileSystem {
        package func tellsWhatIsInMemory(_ folder: Descriptor) -> Bool {
            cplatform_tells_what_is_cached(folder.rawValue) == 1
        }
    }
#else
    extension Platform {
        static let openFiles = RLIMIT_NOFILE

        static func rename(
            _ oldDirectory: CInt, _ oldName: UnsafePointer<CChar>, _ newDirectory: CInt,
            _ newName: UnsafePointer<CChar>, _ mode: RenameMode
        ) -> CInt {
            switch mode {
            case .replacing: renameat(oldDirectory, oldName, newDirectory, newName)
            case .exclusive:
                renameatx_np(oldDirectory, oldName, newDirectory, newName, UInt32(RENAME_EXCL))
            case .exchanging:
                renameatx_np(oldDirectory, oldName, newDirectory, newName, UInt32(RENAME_SWAP))
            }
        }

        /// A clone has the permissions of its original.
        static func clone(
            _ file: CInt, _ directory: CInt, _ name: UnsafePointer<CChar>, _ permissions: mode_t
        ) -> CInt {
            guard fclonefileat(file, directory, name, UInt32(CLONE_NOOWNERCOPY)) == 0 else { return -1 }
            if fchmodat(directory, name, permissions, AT_SYMLINK_NOFOLLOW) == 0 { return 0 }
            let error = errno
            _ = unlinkat(directory, name, 0)
            errno = error
            return -1
        }

        /// `fsync` on Darwin does not flush the drive's cache, `F_FULLFSYNC` does. File systems that do not support it
        /// return `ENOTSUP`, `ENOTTY` or `EINVAL`; `fsync` is used for these.
        static func synchronize(_ file: CInt) -> CInt {
            if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
            guard [ENOTSUP, ENOTTY, EINVAL].contains(errno) else { return -1 }
            return fsync(file)
        }

        /// Writes the file to the drive and has it keep the order: `F_BARRIERFSYNC`. What follows a barrier reaches the
        /// medium only after what precedes it; a later `F_FULLFSYNC` on the same drive makes both durable (fsync(2)).
        static func order(_ file: CInt) -> CInt {
            if fcntl(file, F_BARRIERFSYNC) == 0 { return 0 }
            guard [ENOTSUP, ENOTTY, EINVAL].contains(errno) else { return -1 }
            return synchronize(file)
        }

        /// Darwin has no such call.
        static func startWriting(_: CInt) -> CInt { 0 }

        /// Darwin cannot tell what is in memory without mapping it.
        static func readIfInMemory(
            _: CInt, _: UnsafePointer<CChar>, _: UnsafeMutableRawBufferPointer
        ) -> Int {
            errno = ENOTSUP
            return -1
        }

        /// Not `fstatvfs`, which counts blocks in 32 bits: a volume of 16 TiB would appear empty.
        static func volume(_ file: CInt, _ figures: inout VolumeFigures) -> CInt {
            var status = statfs()
            guard fstatfs(file, &status) == 0 else { return -1 }
            figures = VolumeFigures(
                blocks: Int64(clamping: status.f_blocks), available: Int64(clamping: status.f_bavail),
                ofBytes: Int64(status.f_bsize))
            return 0
        }

        /// `F_FULLFSYNC` on any file commits the current APFS transaction.
        static func synchronizeVolume(_ file: CInt) -> CInt { synchronize(file) }

        /// Unlike on Linux, the requested length is added to the length already allocated.
        static func allocate(_ length: Int64, for file: CInt) -> CInt {
            var status = stat()
            guard fstat(file, &status) == 0 else { return -1 }
            let missing = length - Int64(status.st_blocks) * 512
            guard missing > 0 else { return 0 }
            var request = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
                fst_length: off_t(missing), fst_bytesalloc: 0)
            return fcntl(file, F_PREALLOCATE, &request)
        }

        static func getAttribute(_ file: CInt, _ name: String, _ buffer: UnsafeMutableRawBufferPointer) -> Int
        {
            fgetxattr(file, name, buffer.baseAddress, buffer.count, 0, 0)
        }

        static func setAttribute(_ file: CInt, _ name: String, _ value: UnsafeRawBufferPointer) -> CInt {
            fsetxattr(file, name, value.baseAddress, value.count, 0, 0)
        }

        static func removeAttribute(_ file: CInt, _ name: String) -> CInt { fremovexattr(file, name, 0) }

        static let noSuchAttribute = Errno(rawValue: ENOATTR)

        static func setNoDump(_ file: CInt, _ enabled: Bool) -> CInt {
            var status = stat()
            guard fstat(file, &status) == 0 else { return -1 }
            let flag = UInt32(UF_NODUMP)
            return fchflags(file, enabled ? status.st_flags | flag : status.st_flags & ~flag)
        }

        static func isNoDump(_ file: CInt) -> CInt {
            var status = stat()
            guard fstat(file, &status) == 0 else { return -1 }
            return status.st_flags & UInt32(UF_NODUMP) != 0 ? 1 : 0
        }

        static func birthTime(_ file: CInt, _ nanoseconds: inout Int64) -> CInt {
            var status = stat()
            guard fstat(file, &status) == 0 else { return -1 }
            nanoseconds = Platform.nanoseconds(
                Int64(status.st_birthtimespec.tv_sec), Int64(status.st_birthtimespec.tv_nsec))
            return 1
        }

        static func inode(_ directory: CInt, _ name: UnsafePointer<CChar>, _ inode: inout UInt64) -> CInt {
            var status = stat()
            guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return -1 }
            inode = UInt64(status.st_ino)
            return 0
        }

        static func lengthAndLinks(_ file: CInt, _ length: inout Int64, _ links: inout UInt64) -> CInt {
            var status = stat()
            guard fstat(file, &status) == 0 else { return -1 }
            (length, links) = (Int64(status.st_size), UInt64(status.st_nlink))
            return 0
        }

        static let seekHole = SEEK_HOLE

        static func setByteLock(_ file: CInt, _ start: Int64, _ length: Int64, _ mode: LockMode?) -> CInt {
            var lock = flock(
                l_start: off_t(start), l_len: off_t(length), l_pid: 0,
                l_type: Int16(mode == .exclusive ? F_WRLCK : mode == .shared ? F_RDLCK : F_UNLCK),
                l_whence: Int16(SEEK_SET))
            return fcntl(file, F_OFD_SETLK, &lock)
        }

        /// Darwin has no leases.
        static func isBeingWritten(_ file: CInt) -> CInt {
            errno = ENOTSUP
            return -1
        }

        /// Darwin has no `O_NOATIME`; iOS volumes do not keep access times.
        static let withoutAccessTime: CInt = 0

        static func accessed(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_atimespec.tv_sec), Int64(status.st_atimespec.tv_nsec))
        }

        static func setAccessTime(_ file: CInt, _ nanoseconds: Int64) -> CInt {
            let time = parts(ofNanoseconds: nanoseconds)
            let times = [
                // Clamped: where `Int` has 32 bits, `time_t` ends in 2038.
                timespec(tv_sec: time_t(clamping: time.seconds), tv_nsec: Int(time.nanoseconds)),
                timespec(tv_sec: 0, tv_nsec: Int(UTIME_OMIT)),
            ]
            return futimens(file, times)
        }

        static func modified(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_mtimespec.tv_sec), Int64(status.st_mtimespec.tv_nsec))
        }

        static func changed(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_ctimespec.tv_sec), Int64(status.st_ctimespec.tv_nsec))
        }

        static let seekData = SEEK_DATA

        static func punchHole(_ file: CInt, _ offset: Int64, _ length: Int64) -> CInt {
            var hole = fpunchhole_t(
                fp_flags: 0, reserved: 0, fp_offset: off_t(offset), fp_length: off_t(length))
            return fcntl(file, F_PUNCHHOLE, &hole)
        }

        static func listAttributes(_ file: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
            flistxattr(file, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count, 0)
        }

        /// All but the checks of downloads, which are the system's.
        static func isOfUser(_ attribute: String) -> Bool { attribute != "com.apple.quarantine" }

        static func isDataless(_ status: stat) -> Bool { status.st_flags & UInt32(SF_DATALESS) != 0 }

        /// The keys of a protected file are not available before the device is unlocked. A sandbox and a locked file
        /// (`uchg`) fail with the same error.
        static let locked = Errno.notPermitted

        /// The classes A to D of Apple's Platform Security Guide, as numbered in XNU (sys/cprotect.h).
        private static let protectionClasses: [FileProtection: CInt] = [
            .complete: 1, .completeUnlessOpen: 2, .completeUntilFirstUserAuthentication: 3, .none: 4,
        ]

        static func protectionClass(_ file: CInt) -> CInt { fcntl(file, F_GETPROTECTIONCLASS) }

        static func protection(_ number: CInt) -> FileProtection? {
            protectionClasses.first { $0.value == number }?.key
        }

        static func setProtection(_ protection: FileProtection, of file: CInt) -> CInt {
            fcntl(file, F_SETPROTECTIONCLASS, protectionClasses[protection] ?? 0)
        }
    }
#endif

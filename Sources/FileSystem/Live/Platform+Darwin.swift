#if canImport(Darwin)
    internal import Darwin
    internal import SystemPackage

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

        /// `fsync` on Darwin stops at the drive's cache; `F_FULLFSYNC` asks the drive to flush it. File
        /// systems that lack it answer `ENOTSUP` or `EINVAL`, and get the plain call.
        static func synchronize(_ file: CInt) -> CInt {
            if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
            guard errno == ENOTSUP || errno == EINVAL else { return -1 }
            return fsync(file)
        }

        /// `F_FULLFSYNC` ends a transaction of APFS, whatever file it is called on.
        static func synchronizeVolume(_ file: CInt) -> CInt { synchronize(file) }

        /// Unlike on Linux, the length requested is added to the length already allocated.
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

        static func removeAttribute(_ file: CInt, _ name: String) -> CInt {
            fremovexattr(file, name, 0)
        }

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

        static func inode(
            _ directory: CInt, _ name: UnsafePointer<CChar>, _ inode: inout UInt64
        ) -> CInt {
            var status = stat()
            guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return -1 }
            inode = UInt64(status.st_ino)
            return 0
        }

        /// Darwin has no leases.
        static func isBeingWritten(_ file: CInt) -> CInt { 0 }

        /// Darwin does not have the flag; iOS volumes do not keep access times.
        static let withoutAccessTime: CInt = 0

        static func accessed(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_atimespec.tv_sec), Int64(status.st_atimespec.tv_nsec))
        }

        static func setAccessTime(_ file: CInt, _ nanoseconds: Int64) -> CInt {
            let seconds = nanoseconds / 1_000_000_000
            let times = [
                timespec(tv_sec: time_t(seconds), tv_nsec: Int(nanoseconds - seconds * 1_000_000_000)),
                timespec(tv_sec: 0, tv_nsec: Int(UTIME_OMIT)),
            ]
            return futimens(file, times)
        }

        static func modified(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_mtimespec.tv_sec), Int64(status.st_mtimespec.tv_nsec))
        }

        static func name(of entry: UnsafeMutablePointer<dirent>) -> UnsafePointer<CChar> {
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            return UnsafePointer(
                (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
        }
    }
#endif

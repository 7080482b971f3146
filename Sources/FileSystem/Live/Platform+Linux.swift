#if canImport(Glibc)
    internal import CPlatform
    internal import Glibc
    internal import SystemPackage

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

        static func synchronize(_ file: CInt) -> CInt { fsync(file) }

        static func synchronizeVolume(_ file: CInt) -> CInt { cplatform_sync_volume(file) }

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

        static func isNoDump(_ file: CInt) -> CInt {
            cplatform_get_no_dump(file)
        }

        static func birthTime(_ file: CInt, _ nanoseconds: inout Int64) -> CInt {
            cplatform_birth_time(file, &nanoseconds)
        }

        static func inode(
            _ directory: CInt, _ name: UnsafePointer<CChar>, _ inode: inout UInt64
        ) -> CInt {
            cplatform_inode(directory, name, &inode)
        }

        static func isBeingWritten(_ file: CInt) -> CInt {
            cplatform_is_being_written(file)
        }

        static let withoutAccessTime = cplatform_o_noatime

        static func accessed(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_atim.tv_sec), Int64(status.st_atim.tv_nsec))
        }

        static func setAccessTime(_ file: CInt, _ nanoseconds: Int64) -> CInt {
            cplatform_set_access_time(file, nanoseconds)
        }

        static func modified(_ status: stat) -> Int64 {
            nanoseconds(Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
        }

        /// The name in a directory entry. glibc declares `d_name` as an array of fixed size, but an entry
        /// may be shorter, so the pointer is taken from the entry itself, not from a copy.
        static func name(of entry: UnsafeMutablePointer<dirent>) -> UnsafePointer<CChar> {
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            return UnsafePointer(
                (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
        }
    }
#endif

#if os(Linux)
    internal import Glibc

    /// Cuts a mounted volume off: what its file system has not made durable by now never will be.
    struct PowerSwitch {
        /// `_IOR('X', 125, uint32_t)`, which ext4 and XFS share.
        private static let shutDown: UInt = 0x8004_587D
        /// `EXT4_GOING_FLAGS_NOLOGFLUSH`, `XFS_FSOP_GOING_FLAGS_NOLOGFLUSH`: what the journal has only in memory
        /// is dropped, too.
        private static let withoutFlushing: UInt32 = 2

        struct Failure: Error {
            let code: CInt
        }

        private let volume: CInt

        init(of path: String) throws {
            volume = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard volume >= 0 else { throw Failure(code: errno) }
        }

        func cut() {
            // A mapped page of a volume without power cannot be read, which would end the process in another way.
            signal(SIGBUS) { _ in kill(getpid(), SIGKILL) }
            var flags = Self.withoutFlushing
            // Another thread may have been faster.
            guard ioctl(volume, Self.shutDown, &flags) == 0 || errno == EIO else {
                // Whoever went on with power would pass for one who survived without.
                fatalError("the volume cannot be shut down: \(errno)")
            }
        }
    }
#endif

internal import Foundation
internal import Synchronization

/// Compares the locks that SQLite takes itself to hold with those that the kernel has for this process.
///
/// Locks on byte ranges belong to the process: closing any descriptor of a file releases them all, and SQLite goes on
/// without knowing. So what SQLite asks for is remembered, and before it asks again, in the middle of a transaction or
/// at its end, the kernel must have all of it.
enum LockWatch {
    struct Unavailable: Error {
        let reason: String
    }

    #if os(Linux)
        private typealias Control =
            @Sendable @convention(c) (CInt, CInt, UnsafeMutableRawPointer?) -> CInt
        private typealias Close = @Sendable @convention(c) (CInt) -> CInt

        private struct File: Hashable, Sendable {
            let device: UInt64
            let inode: UInt64
        }

        private struct State: Sendable {
            var folder = ""
            var held: [File: LockedBytes] = [:]
            /// Those through which SQLite has asked for locks.
            var descriptors: [File: Set<CInt>] = [:]
            var names: [File: String] = [:]
            var checks = 0
            var lost: Set<String> = []
        }

        /// `F_OFD_GETLK`, which Glibc's Swift overlay lacks.
        private static let getLockOfOthers: CInt = 36
        private static let state = Mutex(State())
        // Looked up when they are first used, which is before they are replaced.
        private static let control = SQLiteTable.original("fcntl", as: Control.self)
        private static let close = SQLiteTable.original("close", as: Close.self)

        // Functions of C hold no context, not even the type: everything is named in full.

        private static let watchedControl: Control = { file, command, argument in
            guard command == F_SETLK, let request = argument?.assumingMemoryBound(to: flock.self).pointee
            else { return LockWatch.control?(file, command, argument) ?? -1 }
            return LockWatch.state.withLock { state in
                let known = LockWatch.identify(file, &state)
                if let known {
                    LockWatch.check(known, &state)
                    state.descriptors[known, default: []].insert(file)
                }
                let result = LockWatch.control?(file, command, argument) ?? -1
                if let known, result == 0 { state.held[known, default: LockedBytes()].apply(request) }
                return result
            }
        }
        private static let watchedClose: Close = { file in
            LockWatch.state.withLock { state in
                let known = LockWatch.identify(file, &state)
                let result = LockWatch.close?(file) ?? -1
                // A connection without locks of its own does not ask whether another one has some.
                if let known {
                    state.descriptors[known]?.remove(file)
                    LockWatch.check(known, &state)
                    state.held[known] = nil
                }
                return result
            }
        }
    #endif

    /// Begins to watch all databases below a folder. To be called before the first of them is opened.
    static func begin(below folder: String) throws {
        #if os(Linux)
            guard control != nil, close != nil else { throw Unavailable(reason: "SQLite has no such calls") }
            state.withLock { $0.folder = folder + "/" }
            try SQLiteTable.replace("fcntl", by: watchedControl)
            try SQLiteTable.replace("close", by: watchedClose)
        #else
            throw Unavailable(reason: "only Linux tells of them")
        #endif
    }

    /// How often the locks of a file were compared, and the names of the files whose locks were lost.
    static func result() -> (checks: Int, lost: [String]) {
        #if os(Linux)
            state.withLock { state in
                for file in state.held.keys { check(file, &state) }
                return (state.checks, state.lost.sorted())
            }
        #else
            (0, [])
        #endif
    }

    #if os(Linux)
        private static func identify(_ file: CInt, _ state: inout State) -> File? {
            var attributes = stat()
            guard fstat(file, &attributes) == 0 else { return nil }
            let known = File(device: UInt64(attributes.st_dev), inode: UInt64(attributes.st_ino))
            var path = [UInt8](repeating: 0, count: 4096)
            let length = readlink("/proc/self/fd/\(file)", &path, path.count)
            guard length > 0 else { return nil }
            let name = String(decoding: path[..<length], as: UTF8.self)
            guard name.hasPrefix(state.folder) else { return nil }
            state.names[known] = URL(filePath: name).lastPathComponent
            return known
        }

        private static func check(_ file: File, _ state: inout State) {
            // Without a descriptor SQLite has let go of the file, and of the locks with it.
            guard let held = state.held[file], !held.isEmpty, let descriptor = state.descriptors[file]?.first
            else { return }
            state.checks += 1
            if held.ranges.allSatisfy({ isLocked($0, descriptor) }) { return }
            state.lost.insert(state.names[file] ?? "inode \(file.inode)")
        }

        /// Whether the kernel has all bytes of a range locked for this process, in one way.
        ///
        /// Asked for an open file rather than for the process, it takes the locks of the process for somebody else's,
        /// and answers for one moment. `/proc/locks` is put together at many.
        private static func isLocked(_ wanted: LockedBytes.Locked, _ descriptor: CInt) -> Bool {
            var next = wanted.bytes.lowerBound
            while next < wanted.bytes.upperBound {
                var found = flock()
                found.l_type = Int16(F_WRLCK)
                found.l_start = off_t(next)
                found.l_len = wanted.bytes.upperBound == .max ? 0 : off_t(wanted.bytes.upperBound - next)
                guard control?(descriptor, getLockOfOthers, &found) == 0, found.l_pid == getpid(),
                    CInt(found.l_type) == (wanted.isExclusive ? F_WRLCK : F_RDLCK), found.l_start <= next
                else { return false }
                next = found.l_len == 0 ? .max : Int64(found.l_start + found.l_len)
            }
            return true
        }
    #endif
}

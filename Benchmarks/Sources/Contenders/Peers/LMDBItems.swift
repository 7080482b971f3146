#if HAS_LMDB

    import CPeerLMDB
    import Foundation

    /// A database of LMDB, and the buffer that items are read into.
    final class LMDBItems: ItemDatabase {
        static let name = "LMDB"
        static let setup = """
            \(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH), uncompressed; MDB_NOSYNC, map of 16 GiB, \
            one read transaction that is renewed; a write transaction per item, one for all when \
            evicting, which leaves the file as long as it is
            """

        private var environment: OpaquePointer?
        private var database: MDB_dbi = 0
        private var reading: OpaquePointer?
        let promoted: PromotedFiles
        private let contents: [[UInt8]]
        private let keys: [[UInt8]]
        private let buffer: UnsafeMutableRawBufferPointer

        init(in directory: URL, for workload: Workload) throws {
            promoted = try PromotedFiles(in: directory, for: workload)
            contents = workload.contents
            keys = contents.indices.map { Array(Workload.key($0).utf8) }
            buffer = .allocate(byteCount: workload.size, alignment: 64)
            try check(mdb_env_create(&environment))
            try check(mdb_env_set_mapsize(environment, 16 << 30))
            let folder = directory.appending(path: "items").path(percentEncoded: false)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            // A task may go on on another thread, and so do the transactions that it reads with.
            let flags = CUnsignedInt(MDB_NOSYNC | MDB_NOTLS)
            try check(mdb_env_open(environment, folder, flags, 0o600))
            try write { transaction in
                try check(mdb_dbi_open(transaction, nil, 0, &database))
            }
            try check(mdb_txn_begin(environment, nil, CUnsignedInt(MDB_RDONLY), &reading))
            mdb_txn_reset(reading)
        }

        deinit {
            mdb_txn_abort(reading)
            mdb_env_close(environment)
            buffer.deallocate()
        }

        func put(_ index: Int) throws {
            try withValue(keys[index]) { key in
                try withValue(contents[index]) { value in
                    try write { transaction in
                        try check(mdb_put(transaction, database, &key, &value, 0))
                    }
                }
            }
        }

        func withContent<Result>(
            _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
        ) throws -> Result {
            let length = try withValue(keys[index]) { key in
                try check(mdb_txn_renew(reading))
                defer { mdb_txn_reset(reading) }
                var value = MDB_val()
                try check(mdb_get(reading, database, &key, &value))
                buffer.copyMemory(from: UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
                return value.mv_size
            }
            return try body(UnsafeRawBufferPointer(rebasing: buffer[..<length]))
        }

        func delete(_ items: Range<Int>) throws {
            try write { transaction in
                for index in items {
                    try withValue(keys[index]) { key in
                        try check(mdb_del(transaction, database, &key, nil))
                    }
                }
            }
        }

        private func write(_ body: (OpaquePointer?) throws -> Void) throws {
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(environment, nil, 0, &transaction))
            do {
                try body(transaction)
            } catch {
                mdb_txn_abort(transaction)
                throw error
            }
            try check(mdb_txn_commit(transaction))
        }

        /// LMDB does not write to what it is given, but does not say so in its types.
        private func withValue<Result>(_ bytes: [UInt8], _ body: (inout MDB_val) throws -> Result) rethrows
            -> Result
        {
            try bytes.withUnsafeBytes { bytes in
                var value = MDB_val(
                    mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
                return try body(&value)
            }
        }

        private func check(_ code: CInt) throws {
            if code != 0 { throw ContenderError(String(cString: mdb_strerror(code))) }
        }
    }

#endif

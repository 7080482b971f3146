#if HAS_ROCKSDB

    import CPeerRocksDB
    import Foundation

    /// The database, its options, and the buffer that items are read into.
    final class RocksDBItems: ItemDatabase {
        static let name = "RocksDB"
        static let setup = """
            C interface, default block-based table, LZ4, write-ahead log without sync; what fits in its 64 MiB of \
            memory is neither compressed nor read from disk; \
            evict: one batch of deletions, which frees no space yet
            """

        private let options = rocksdb_options_create()
        private let writing = rocksdb_writeoptions_create()
        private let reading = rocksdb_readoptions_create()
        private var database: OpaquePointer?
        private let keys: [[CChar]]
        private let buffer: UnsafeMutableRawBufferPointer

        init(in directory: URL, for workload: Workload) throws {
            // Without the NUL: RocksDB is told how long they are.
            keys = workload.contents.indices.map { Workload.key($0).utf8CString.dropLast() }
            buffer = .allocate(byteCount: workload.size, alignment: 64)
            rocksdb_options_set_create_if_missing(options, 1)
            rocksdb_options_set_compression(options, CInt(rocksdb_lz4_compression))
            let folder = directory.appending(path: "items").path(percentEncoded: false)
            database = try check { rocksdb_open(options, folder, &$0) }
        }

        deinit {
            if let database { rocksdb_close(database) }
            rocksdb_readoptions_destroy(reading)
            rocksdb_writeoptions_destroy(writing)
            rocksdb_options_destroy(options)
            buffer.deallocate()
        }

        func put(_ index: Int, _ content: [UInt8]) throws {
            let key = keys[index]
            try content.withUnsafeBytes { content in
                let value = content.assumingMemoryBound(to: CChar.self)
                try check {
                    rocksdb_put(database, writing, key, key.count, value.baseAddress, value.count, &$0)
                }
            }
        }

        func read(_ index: Int) throws -> UnsafeRawBufferPointer {
            let key = keys[index]
            guard let slice = try check({ rocksdb_get_pinned(database, reading, key, key.count, &$0) }) else {
                throw ContenderError.missing
            }
            defer { rocksdb_pinnableslice_destroy(slice) }
            var length = 0
            let value = rocksdb_pinnableslice_value(slice, &length)
            buffer.copyMemory(from: UnsafeRawBufferPointer(start: value, count: length))
            return UnsafeRawBufferPointer(rebasing: buffer[..<length])
        }

        func delete(_ items: Range<Int>) throws {
            if items.count == 1 {
                let key = keys[items.lowerBound]
                try check { rocksdb_delete(database, writing, key, key.count, &$0) }
                return
            }
            let batch = rocksdb_writebatch_create()
            defer { rocksdb_writebatch_destroy(batch) }
            for index in items { rocksdb_writebatch_delete(batch, keys[index], keys[index].count) }
            try check { rocksdb_write(database, writing, batch, &$0) }
        }

        @discardableResult
        private func check<Result>(_ call: (inout UnsafeMutablePointer<CChar>?) -> Result) throws -> Result {
            var message: UnsafeMutablePointer<CChar>?
            let result = call(&message)
            guard let message else { return result }
            defer { rocksdb_free(message) }
            throw PeerError(peer: "RocksDB", message: String(cString: message))
        }
    }

#endif

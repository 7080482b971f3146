import FileSystem
import FileSystemTestSupport
import ItemFormat
import Synchronization
import SystemPackage

@testable import PrefetchCache

/// A ledger whose commits are operations of a simulated disk: one that returned is durable, unless the
/// ledger is told not to flush.
struct SimulatedLedger: PromotionLedger {
    /// A disk keeps bytes; entries are kept here, each once, and the disk has their numbers.
    private static let entries = Mutex<(list: [LedgerEntry], numbers: [LedgerEntry: UInt32])>(([], [:]))

    let fileSystem: SimulatedFileSystem
    var isFlushed = true

    func attributes() -> FileAttributes? {
        let records = fileSystem.records
        guard !records.isEmpty else { return nil }
        return FileAttributes(
            kind: .regular, identity: .init(device: 1, inode: 0), length: Int64(records.count), allocated: 0,
            linkCount: 1, owner: fileSystem.userID, permissions: [.ownerReadWrite],
            modified: Int64(records.hashValue))
    }

    func entry(for key: ItemKey) -> LedgerEntry? {
        fileSystem.records[key.hash.hexadecimal].map(Self.entry)
    }

    func intents() -> [LedgerEntry] {
        all.filter { $0.state == .intent }
    }

    func committedHashes() -> Set<KeyHash> {
        Set(all.lazy.filter { $0.state == .committed }.map(\.key.hash))
    }

    func put(_ entry: LedgerEntry) throws(CacheError) {
        let number = Self.entries.withLock { entries in
            if let known = entries.numbers[entry] { return known }
            entries.list.append(entry)
            entries.numbers[entry] = UInt32(entries.list.count - 1)
            return UInt32(entries.list.count - 1)
        }
        try commit(withUnsafeBytes(of: number) { Array($0) }, entry.key)
    }

    func remove(_ key: ItemKey) throws(CacheError) {
        try commit(nil, key)
    }

    func close() {}

    private func commit(_ value: [UInt8]?, _ key: ItemKey) throws(CacheError) {
        do {
            try fileSystem.commit(value, for: key.hash.hexadecimal, isFlushed: isFlushed)
        } catch {
            throw .database(name: "ledger", message: "\(error)")
        }
    }

    private var all: [LedgerEntry] {
        fileSystem.records.sorted { $0.key < $1.key }.map { Self.entry($0.value) }
    }

    private static func entry(_ value: [UInt8]) -> LedgerEntry {
        let number = value.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return entries.withLock { $0.list[Int(number)] }
    }
}

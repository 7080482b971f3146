import Foundation
import Synchronization
import Testing

@testable import PrefetchCaching

extension Engine {
    /// Begins a store whose whole chunks are kept.
    func beginKept(
        _ key: ItemKey, expectedLength: Int64? = nil, encoding: ItemEncoding = .identity,
        validator: Validator = Validator()
    ) throws -> UnfinishedStore {
        try begin(
            ItemMetadata(key, validator: validator), encoding: .forced(encoding),
            expectedLength: expectedLength, keepingPartial: true)
    }

    /// Stores the beginning of an item, and breaks off.
    @discardableResult
    func keep(
        _ content: Data, _ key: ItemKey, expectedLength: Int64? = nil, encoding: ItemEncoding = .identity
    ) throws -> ResumablePartial? {
        let store = try beginKept(key, expectedLength: expectedLength, encoding: encoding)
        try store.append(content)
        return try store.suspend()
    }

    /// Goes on with what is kept of a key.
    func resume(_ key: ItemKey) throws -> (store: UnfinishedStore, replayed: Data) {
        let partial = try #require(try partial(of: key))
        let replay = Replay()
        guard case .begun(let store) = try resume(partial, replay: { replay.add($0) }) else {
            Issue.record("gone or refused")
            throw CacheError.writerIsFinished
        }
        return (store, replay.content)
    }
}

/// What a resumed store has handed out.
final class Replay: Sendable {
    private let bytes = Mutex(Data())

    var content: Data { bytes.withLock { $0 } }

    func add(_ piece: UnsafeRawBufferPointer) { bytes.withLock { $0.append(contentsOf: piece) } }
}

extension TemporaryContainer {
    func chunks(_ key: ItemKey) -> URL { incoming.appending(path: key.hash.hexadecimal) }
    func journal(_ key: ItemKey) -> URL { incoming.appending(path: "\(key.hash.hexadecimal).chunks") }
}

extension Engine {
    /// Goes on with an item of which so many bytes were kept, and reads it.
    func complete(_ key: ItemKey, _ content: Data, after length: Int, _ comment: Comment? = nil) throws {
        let (store, replayed) = try resume(key)
        #expect(isSame(replayed, content.prefix(length)), comment)
        #expect(store.contentBytes == Int64(length), comment)
        try store.append(content.dropFirst(length))
        #expect(try store.commit().isStored, comment)
        #expect(try isSame(self.content(key), content), comment)
    }
}

/// Compares contents. Of two long ones that differ, `#expect` would look for the difference for hours.
func isSame(_ one: Data?, _ other: Data) -> Bool { one == other }

/// Holds the books against the disk.
func expectBooksLikeDisk(_ engine: Engine, _ container: TemporaryContainer, _ comment: Comment? = nil) throws
{
    let statistics = try engine.statistics()
    #expect(try statistics.chargedBytes == container.chargedOnDisk(), comment)
    #expect(try engine.capacity().heldBytes == 0, comment)
}

func expectBooksAfterMaintenance(
    _ engine: Engine, _ container: TemporaryContainer, _ comment: Comment? = nil
) throws {
    try engine.maintain()
    try expectBooksLikeDisk(engine, container, comment)
}

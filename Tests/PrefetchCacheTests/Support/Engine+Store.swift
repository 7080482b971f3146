import Foundation
import Testing

@testable import PrefetchCaching

extension Engine {
    /// Begins a store of incompressible content whose length is known, as if by a downloader.
    func begin(_ key: ItemKey, expectedLength: Int64) throws -> UnfinishedStore {
        guard
            case .begun(let store) = try beginStore(
                ItemMetadata(key), encoding: .forced(.identity), expectedLength: expectedLength)
        else {
            Issue.record("refused")
            throw CacheError.writerIsFinished
        }
        return store
    }
}

extension Engine {
    /// Begins a store of what the user asked for.
    func beginDelivery(_ key: ItemKey, expectedLength: Int64?, keepingPartial: Bool = false) throws
        -> UnfinishedStore
    {
        var metadata = ItemMetadata(key)
        metadata.intent = .userRequested
        switch try beginStore(
            metadata, encoding: .automatic, expectedLength: expectedLength, keepingPartial: keepingPartial)
        {
        case .begun(let store): return store
        case .refused(let refusal): throw Refused(refusal)
        }
    }
}

extension UnfinishedStore {
    /// Appends as many MiB.
    func append(mebibytes count: Int) throws {
        for piece in 0..<count {
            let refusal = try noise(1 << 20, seed: UInt64(piece)).withBytes { bytes throws(CacheError) in
                try append(bytes)
            }
            #expect(refusal == nil)
        }
    }

    func commit() throws -> StoreOutcome {
        try commit(appending: UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

extension StoreOutcome {
    var isStored: Bool {
        if case .stored = self { true } else { false }
    }
}

/// Runs `body` on a thread of its own, and returns when it has ended.
func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) {
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        do { try body() } catch { Issue.record(error) }
        ended.signal()
    }
    ended.wait()
}

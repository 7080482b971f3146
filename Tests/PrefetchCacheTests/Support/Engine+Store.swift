import Foundation
import Testing

@testable import PrefetchCaching

extension Engine {
    func verified(isRepairing: Bool = false) throws -> VerificationReport {
        let request = VerificationRequest(isRepairing: isRepairing)
        return try Verifier(self, request, isCancelled: { false }, report: nil).run()
    }

    func configure(
        _ budget: CacheConfiguration.Budget, _ change: (inout CacheConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = CacheConfiguration(budget: budget)
        change(&configuration)
        try configure(configuration)
    }

    @discardableResult
    func store(
        _ content: Data, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        on terms: AdmissionTerms = AdmissionTerms()
    ) throws -> StoreOutcome {
        try content.withBytes { bytes throws(CacheError) in
            try store(bytes, as: metadata, encoding: encoding, on: terms)
        }
    }

    @discardableResult
    func store(
        _ content: Data, _ key: ItemKey, to area: Area = .documents, encoding: EncodingChoice = .automatic,
        parts: [BundlePart] = []
    ) throws -> StoreOutcome {
        var metadata = ItemMetadata(key, to: area)
        metadata.parts = parts
        return try store(content, as: metadata, encoding: encoding)
    }

    /// Stores an item whose destination is in a folder and named after the key.
    @discardableResult
    func store(
        _ content: Data, _ key: ItemKey, in folder: FolderPath, of area: Area = .documents,
        intent: Intent = .opportunistic, encoding: EncodingChoice = .automatic
    ) throws -> StoreOutcome {
        let destination = Destination.in(area, FileName(sanitizing: key.string), folder)
        return try store(
            content, as: ItemMetadata(key: key, intent: intent, destination: destination), encoding: encoding)
    }

    /// Begins a store that must not be refused.
    func begin(
        _ metadata: ItemMetadata, encoding: EncodingChoice = .automatic, expectedLength: Int64? = nil,
        keepingPartial: Bool = false, whenPromoted: WhenPromoted = .leave,
        on terms: AdmissionTerms = AdmissionTerms()
    ) throws -> UnfinishedStore {
        switch try beginStore(
            metadata, encoding: encoding, expectedLength: expectedLength, keepingPartial: keepingPartial,
            whenPromoted: whenPromoted, on: terms)
        {
        case .begun(let store): return store
        case .refused(let refusal): throw Refused(refusal)
        }
    }

    /// Begins a store of incompressible content whose length is known, as if by a downloader.
    func begin(_ key: ItemKey, expectedLength: Int64) throws -> UnfinishedStore {
        try begin(ItemMetadata(key), encoding: .forced(.identity), expectedLength: expectedLength)
    }

    /// Begins a store of what the user asked for.
    func beginDelivery(_ key: ItemKey, expectedLength: Int64?, keepingPartial: Bool = false) throws
        -> UnfinishedStore
    {
        try begin(
            ItemMetadata(key, intent: .userRequested), expectedLength: expectedLength,
            keepingPartial: keepingPartial)
    }

    func content(_ key: ItemKey) throws -> Data? { try read(key, nil).value }
}

extension Engine.BegunStore {
    var begun: Store? { if case .begun(let store) = self { store } else { nil } }
    var refusal: Refusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}

extension UnfinishedStore {
    /// - Returns: Why it was refused.
    func offer(_ content: Data) throws -> Refusal? {
        try content.withBytes { bytes throws(CacheError) in try append(bytes) }
    }

    func append(_ content: Data) throws { #expect(try offer(content) == nil) }

    /// Appends as many MiB.
    func append(mebibytes count: Int) throws {
        for piece in 0..<count { try append(noise(1 << 20, seed: UInt64(piece))) }
    }

    @discardableResult
    func commit(appending content: Data = Data()) throws -> StoreOutcome {
        try content.withBytes { bytes throws(CacheError) in try commit(appending: bytes) }
    }
}

extension Lookup {
    var miss: Miss? { if case .miss(let miss) = self { miss } else { nil } }
}

extension Miss {
    var isDamage: Bool { if case .damaged = self { true } else { false } }
}

extension Lookup<ItemStatus> {
    var isPromoted: Bool { if case .hit(.promoted) = self { true } else { false } }

    var isCached: Bool { if case .hit(.cached) = self { true } else { false } }
}

extension BegunStoring {
    var writer: CacheWriter? { if case .writer(let writer) = self { writer } else { nil } }
}

extension ResumedStoring {
    var writer: CacheWriter? { if case .writer(let writer) = self { writer } else { nil } }
}

extension FetchClaimOutcome {
    var claim: FetchClaim? { if case .claimed(let claim) = self { claim } else { nil } }
}

extension StoreOutcome {
    var stored: ItemSummary? { if case .stored(let item) = self { item } else { nil } }

    var isStored: Bool { if case .stored = self { true } else { false } }

    var refusal: Refusal? { if case .refused(let refusal) = self { refusal } else { nil } }

    /// What was handed over.
    var delivered: PromotedFile? { if case .delivered(let file) = self { file } else { nil } }
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

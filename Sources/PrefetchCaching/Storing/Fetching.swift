internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization

/// What a downloader finds at a key before it sends a request.
package enum FetchStart: Sendable {
    /// Nothing of the key is here, and its content may be fetched now.
    case clear(FetchClaim)
    /// There is no room for it.
    case refused(Refusal)
    /// Something of the key is here, it is being fetched elsewhere, or it cannot be claimed: a closer look says which.
    case occupied
}

extension Engine {
    fileprivate func beginFetch(
        _ metadata: ItemMetadata, expectedLength: Int64?, on terms: AdmissionTerms
    ) throws(CacheError) -> FetchStart {
        let key = metadata.key
        guard try promotedEntry(key) == nil, try !isCached(key.hash),
            case .claimed(let claim) = try claims.claim(key.hash)
        else { return .occupied }
        var isClaimed = false
        defer { if !isClaimed { claim.release() } }
        // Another process may have stored it just before.
        guard try !isCached(key.hash), try partial(of: key) == nil else { return .occupied }
        if let refusal = try refusal(of: metadata, expectedLength: expectedLength, on: terms) {
            return .refused(refusal)
        }
        isClaimed = true
        return .clear(claim)
    }

    /// Whether an item is remembered that was stored and left unused.
    func remembersStored(_ key: ItemKey) throws(CacheError) -> Bool {
        try departed.contain(key.hash, after: history.departures, at: environment.uptime()) {
            () throws(CacheError) in
            // What has just left need not be known.
            try catalog.reading(includingPending: false) { try $0.departed() }
        }
    }
}

/// The hashes of items that are remembered as stored and left unused, for downloads, of which each asks for one: read from
/// the catalog soon after this process has evicted something, and once a second for what others have.
final class DepartedItems: Sendable {
    private struct Reading {
        let hashes: Set<KeyHash>
        let departures: Int
        let time: Duration
    }

    private static let freshness = Duration.seconds(1)
    /// Of what this process may have added to.
    private static let leastFreshness = Duration.milliseconds(20)
    private let last = UnfairMutex<Reading?>(nil)

    /// - Parameters:
    ///   - departures: How many items have left by this process so far.
    ///   - time: Now.
    func contain(
        _ hash: KeyHash, after departures: Int, at time: Duration,
        reading read: () throws(CacheError) -> Set<KeyHash>
    ) throws(CacheError) -> Bool {
        if let last = last.withLock({ $0 }) {
            let freshness = last.departures == departures ? Self.freshness : Self.leastFreshness
            if time - last.time < freshness { return last.hashes.contains(hash) }
        }
        let hashes = try read()
        last.withLock { $0 = Reading(hashes: hashes, departures: departures, time: time) }
        return hashes.contains(hash)
    }
}

extension PrefetchCache {
    /// Claims a key of which nothing is here, for the time in which its content is fetched: one call for what nearly every
    /// download of a list begins with.
    ///
    /// - Parameter expectedLength: Bytes of content, if known.
    package func beginFetch(
        _ metadata: ItemMetadata, expectedLength: Int64?, on terms: AdmissionTerms
    ) async throws(CacheError) -> FetchStart {
        try await run { engine throws(CacheError) in
            try engine.beginFetch(metadata, expectedLength: expectedLength, on: terms)
        }
    }

    /// Counts bytes that were fetched over the network for a source, and releases the claim of the key.
    ///
    /// - Parameters:
    ///   - again: How many of them had been fetched before.
    ///   - inVain: How many of them were not kept.
    ///   - claim: Ends with a suspension of the cache by itself.
    package func endFetch(
        _ bytes: Int64, again: Int64, inVain: Int64, from source: String, releasing claim: FetchClaim? = nil
    ) async throws(CacheError) {
        guard claim?.isHeld == true || bytes > 0 else { return }
        try await run { engine throws(CacheError) in
            claim?.release()
            guard bytes > 0 else { return }
            var figures = PrefetchFigures()
            figures[.fetchedBytes] = bytes
            figures[.fetchedAgainBytes] = again
            figures[.fetchedInVainBytes] = inVain
            engine.history.add(figures, to: SourceName(source))
        }
    }
}

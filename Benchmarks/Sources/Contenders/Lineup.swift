/// Who is compared: the floor, the cache of this project, and other caches.
public struct Lineup {
    /// What the job costs at least; ratios are multiples of this.
    public let floor: any Contender
    /// PrefetchCache.
    public let ours: any Contender
    public var peers: [any Contender]

    public init(floor: any Contender, ours: any Contender, peers: [any Contender] = []) {
        self.floor = floor
        self.ours = ours
        self.peers = peers
    }

    public var all: [any Contender] {
        [floor, ours] + peers
    }

    /// The contenders of this package.
    public static func standard() -> Lineup {
        Lineup(
            floor: FloorContender(), ours: PrefetchCacheContender(),
            peers: [PrefetchCacheContender(prefersExecutor: false)])
    }

    /// The contenders of this package and other caches, and which of these are not on this machine.
    public static func withPeers() -> (lineup: Lineup, missing: [MissingPeer]) {
        var peers: [any Contender] = [
            PrefetchCacheContender(prefersExecutor: false), URLCacheContender(),
            DatabaseContender<SQLiteItems>(),
        ]
        var missing: [MissingPeer] = []
        #if HAS_LMDB
            peers.append(DatabaseContender<LMDBItems>())
        #else
            missing.append(
                MissingPeer(name: "lmdb", advice: "apt-get install liblmdb-dev, or .ci/setup --peers"))
        #endif
        if let diskCache = ProcessContender.diskCache() {
            peers.append(diskCache)
        } else {
            missing.append(
                MissingPeer(
                    name: "diskcache",
                    advice: "pip install diskcache in Benchmarks/.venv, or .ci/setup --peers"))
        }
        return (Lineup(floor: FloorContender(), ours: PrefetchCacheContender(), peers: peers), missing)
    }
}

extension Lineup {
    /// The same peers for a day of bursts, see `DaySuite`: those that can be measured with many items, and a
    /// cache of ours that evicts by itself.
    ///
    /// - Parameter budget: Bytes.
    public func forADay(budget: Int64) -> Lineup {
        Lineup(
            floor: floor, ours: PrefetchCacheContender(budget: .tight(budget)),
            peers: peers.filter { $0.maximumItems == nil && !($0 is PrefetchCacheContender) })
    }
}

/// What cannot be compared with on this machine.
///
/// Libraries are looked for when the package is evaluated, and SwiftPM remembers what came of that:
/// `.ci/setup --peers` has it look again.
public struct MissingPeer: Sendable, CustomStringConvertible {
    public let name: String
    let advice: String

    public var description: String {
        "\(name): not installed, skipped (\(advice))"
    }
}

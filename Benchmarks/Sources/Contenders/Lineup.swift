/// Who is compared: the floor, the cache of this project, and other caches.
public struct Lineup {
    /// What the job costs at least; ratios are multiples of this.
    public let floor: any Contender
    /// PrefetchCache.
    public let ours: (any Contender)?
    public let peers: [any Contender]

    public init(floor: any Contender, ours: (any Contender)? = nil, peers: [any Contender] = []) {
        self.floor = floor
        self.ours = ours
        self.peers = peers
    }

    public var all: [any Contender] {
        [floor] + (ours.map { [$0] } ?? []) + peers
    }

    /// The contenders of this package.
    public static func standard() -> Lineup {
        Lineup(
            floor: FloorContender(), ours: PrefetchCacheContender(),
            peers: [PrefetchCacheContender(prefersExecutor: false)])
    }
}

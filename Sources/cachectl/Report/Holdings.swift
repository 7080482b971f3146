internal import PrefetchCaching

/// The bytes of a cache, broken down in several ways. A pure function of the cache's state.
struct Holdings {
    struct Part: Hashable {
        let name: String
        let bytes: Int64
        /// The number of files, items or partials.
        let count: Int
        /// Whether the name is untrusted text from outside this program.
        let isForeign: Bool

        init(_ name: String, _ sum: (bytes: Int64, count: Int)?, isForeign: Bool = false) {
            self.name = name
            (bytes, count) = sum ?? (0, 0)
            self.isForeign = isForeign
        }
    }

    /// The maximum number of sources listed individually; the others are summed up.
    static let maximumSources = 12
    /// The maximum number of items, and of files, listed.
    static let maximumRows = 20

    let areas: [Part]
    let sources: [Part]
    let ages: [Part]
    let encodings: [Part]
    let largest: [CachedItem]
    /// The largest promoted files that are still at their destinations.
    let files: [PromotedFile]
    /// The number of promoted files that are no longer at their destinations.
    let movedFiles: Int

    /// - Parameter now: Milliseconds since 1970.
    init(
        items: [CachedItem], partials: [PartialItem], promoted: [PromotedFile], catalogBytes: Int64,
        damagedItems: Int, chargedBytes: Int64, now: Int64
    ) {
        let present = promoted.filter { $0.presentBytes != nil }
        movedFiles = promoted.count - present.count
        let byLength = present.sorted {
            ($0.presentBytes ?? 0, $1.key.string) > ($1.presentBytes ?? 0, $0.key.string)
        }
        files = Array(byLength.prefix(Self.maximumRows))
        let byCharge = items.sorted { ($0.chargedBytes, $1.key.string) > ($1.chargedBytes, $0.key.string) }
        largest = Array(byCharge.prefix(Self.maximumRows))
        areas = Self.areas(present, items.count + partials.count + damagedItems, chargedBytes + catalogBytes)
        sources = Self.sources(items)
        ages = Self.ages(items, now: now)
        let byEncoding = Self.sum(items, by: \.encoding)
        encodings = [
            Part("compressed (LZ4)", byEncoding[.lz4]), Part("as it came (identity)", byEncoding[.identity]),
        ]
    }

    private static func areas(_ files: [PromotedFile], _ cached: Int, _ cachedBytes: Int64) -> [Part] {
        let promoted = [Area.documents, .applicationSupport, .iCloudDrive].map { area in
            let lengths = files.lazy.filter { $0.location.area == area }.map { $0.presentBytes ?? 0 }
            return Part(area.title, (lengths.reduce(0, +), lengths.count))
        }
        return [Part(Area.caches.title, (cachedBytes, cached))] + promoted
    }

    private static func sources(_ items: [CachedItem]) -> [Part] {
        // Compared as bytes: Swift's `==` treats canonically equivalent strings as equal.
        let parts = sum(items, by: { Array($0.source.utf8) }).map {
            $0.key.isEmpty
                ? Part("no source", $0.value)
                : Part(String(decoding: $0.key, as: UTF8.self), $0.value, isForeign: true)
        }.sorted { ($0.bytes, $1.name) > ($1.bytes, $0.name) }
        guard parts.count > maximumSources else { return parts }
        let rest = parts.dropFirst(maximumSources)
        let others = rest.reduce((0, 0)) { ($0.0 + $1.bytes, $0.1 + $1.count) }
        return parts.prefix(maximumSources) + [Part("\(rest.count) others", others)]
    }

    /// The upper bounds of the age groups, in milliseconds, youngest first.
    private static let limits: [(name: String, end: Int64)] = [
        ("up to 1 hour", 3_600_000), ("1 to 24 hours", 86_400_000), ("1 to 7 days", 604_800_000),
        ("7 to 30 days", 2_592_000_000), ("more than 30 days", .max),
    ]

    private static func ages(_ items: [CachedItem], now: Int64) -> [Part] {
        let byAge = sum(items) { item in
            // The clock may have been set back since the item was stored.
            let age = max(0, now.subtractingReportingOverflow(item.storedAt).partialValue)
            return limits.firstIndex { age < $0.end } ?? limits.count - 1
        }
        return limits.enumerated().map { Part($1.name, byAge[$0]) }
    }

    private static func sum<Key: Hashable>(
        _ items: [CachedItem], by key: (CachedItem) -> Key
    ) -> [Key: (bytes: Int64, count: Int)] {
        var sums: [Key: (bytes: Int64, count: Int)] = [:]
        for item in items {
            sums[key(item), default: (0, 0)].bytes += item.chargedBytes
            sums[key(item), default: (0, 0)].count += 1
        }
        return sums
    }
}

internal import PrefetchCache

/// What a cache says of itself, held against its folders when nobody uses it.
struct Books {
    private let container: String

    init(inContainer container: String) {
        self.container = container
    }

    func faults() async throws -> [String] {
        let cache = try await PrefetchCache(inContainer: container)
        try await cache.trim()
        let statistics = try await cache.statistics()
        let held = try await cache.capacity().heldBytes
        let files = try Walk(container + "/Library/Caches/PrefetchCache")
        try await cache.close()
        var faults: [String] = []
        if statistics.chargedBytes != files.charged {
            faults.append("\(statistics.chargedBytes) bytes are charged, and \(files.charged) are there")
        }
        if held != 0 { faults.append("\(held) bytes are held by nobody") }
        return faults
    }
}

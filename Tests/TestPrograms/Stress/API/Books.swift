internal import PrefetchCaching

/// What a cache says of itself, held against its folders when nobody uses it.
struct Books {
    private let container: String

    init(inContainer container: String) {
        self.container = container
    }

    /// A cache that was dropped without being closed holds what it held until it has written its notes, a second later: for
    /// three seconds faults are not believed.
    func faults() async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(3)
        while true {
            let faults = try await look()
            if faults.isEmpty || ContinuousClock.now > deadline { return faults }
            // Nothing tells when a dropped cache has let go: it has no users any more.
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func look() async throws -> [String] {
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

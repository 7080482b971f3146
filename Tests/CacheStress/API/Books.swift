internal import PrefetchCache

/// What a cache says of itself, held against its folders when nobody uses it.
struct Books {
    private let container: String

    init(inContainer container: String) {
        self.container = container
    }

    /// - Parameter patience: A cache that was dropped without being closed holds what it held until it has written its notes,
    ///   a second later. So long faults are not believed.
    func faults(patience: Duration = .seconds(3)) async throws -> [String] {
        let deadline = ContinuousClock.now + patience
        while true {
            let faults = try await look()
            if faults.isEmpty || ContinuousClock.now > deadline { return faults }
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

@testable import PrefetchCaching

extension PrefetchCache {
    /// Whether its calls wait.
    var isSuspended: Bool {
        get async throws {
            let call = Task { try await engine.running() }
            call.cancel()
            do {
                _ = try await call.value
                return false
            } catch CacheError.cancelled {
                return true
            }
        }
    }
}

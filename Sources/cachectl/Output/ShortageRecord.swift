internal import PrefetchCache

/// A lack of room on the volume for an item that the user asked for, as JSON.
struct ShortageRecord: Encodable {
    let error = "insufficientSpace"
    let neededBytes: Int64
    let availableBytes: Int64
    let message: String

    /// - Returns: `nil` for any other error.
    init?(_ error: CacheError) {
        guard case .insufficientSpace(let needed, let available) = error else { return nil }
        neededBytes = needed
        availableBytes = available
        message = error.description
    }
}

/// The waits for another process that is fetching the content.
struct Waits: Sendable {
    private(set) var count = 0
    /// Whether nothing of the key was cached when they began.
    private(set) var beganWithoutItem = false

    /// How long to wait now: 50 milliseconds at first, twice as long each time, and never above 2 seconds.
    mutating func next(withoutItem: Bool) -> Duration {
        if count == 0 { beganWithoutItem = withoutItem }
        defer { count += 1 }
        return min(.milliseconds(50) * (1 << min(count, 6)), .seconds(2))
    }
}

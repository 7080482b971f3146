/// How long to wait before the next attempt: exponential, with full jitter, so that clients that failed
/// together do not come back together (Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog,
/// 2015).
struct Backoff: Sendable {
    let first: Duration
    let longest: Duration

    /// - Parameters:
    ///   - failures: The number of failed attempts, at least 1.
    ///   - random: Returns a random number from 0 to 1.
    func delay(after failures: Int, random: () -> Double) -> Duration {
        // 2^30 times any sensible value exceeds the longest.
        let ceiling = min(longest, first * (1 << min(max(failures, 1) - 1, 30)))
        return ceiling * min(max(random(), 0), 1)
    }
}

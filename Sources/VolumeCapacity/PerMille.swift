extension Int64 {
    /// `factor` thousandths of this amount, rounded down; saturates instead of overflowing. A negative
    /// amount or factor counts as 0.
    package func perMille(_ factor: Int64) -> Int64 {
        Int64(clamping: Int128(Swift.max(0, self)) * Int128(Swift.max(0, factor)) / 1000)
    }

    /// This amount, limited to the bounds. An upper bound below the lower one gives the lower one.
    func clamped(_ lower: Int64, _ upper: Int64) -> Int64 {
        Swift.max(lower, Swift.min(self, upper))
    }
}

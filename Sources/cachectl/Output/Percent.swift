/// Thousandths as people write them: `25 %`, `2.5 %`.
enum Percent {
    static func text(_ perMille: Int64) -> String {
        let (whole, tenths) = perMille.quotientAndRemainder(dividingBy: 10)
        return tenths == 0 ? "\(whole) %" : "\(whole).\(tenths) %"
    }
}

extension Int64 {
    /// `factor` thousandths of this amount, rounded down as a ``CapacityModel`` does it.
    func perMille(_ factor: Int64) -> Int64 {
        Int64(clamping: Int128(self) * Int128(factor) / 1000)
    }
}

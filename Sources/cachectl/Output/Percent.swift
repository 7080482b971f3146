/// Thousandths as percentages: `25 %`, `2.5 %`.
enum Percent {
    static func text(_ perMille: Int64) -> String {
        let (whole, tenths) = perMille.quotientAndRemainder(dividingBy: 10)
        return tenths == 0 ? "\(whole) %" : "\(whole).\(tenths) %"
    }
}

extension CapacityModel {
    /// One constant: its name in a configuration, its property and its range.
    struct Constant: Sendable {
        let name: String
        let path: any WritableKeyPath<CapacityModel, Int64> & Sendable
        let range: ClosedRange<Int64>
    }

    private static let ratio: ClosedRange<Int64> = 0...1000
    private static let atLeast0: ClosedRange<Int64> = 0...Int64.max
    private static let atLeast1: ClosedRange<Int64> = 1...Int64.max

    static let constants: [Constant] = [
        Constant(name: "lowPerMille", path: \.lowPerMille, range: ratio),
        Constant(name: "lowLimit", path: \.lowLimit, range: atLeast0),
        Constant(name: "reservePerMille", path: \.reservePerMille, range: ratio),
        Constant(name: "reserveLimit", path: \.reserveLimit, range: atLeast0),
        Constant(name: "firstShareEnd", path: \.firstShareEnd, range: atLeast0),
        Constant(name: "firstSharePerMille", path: \.firstSharePerMille, range: ratio),
        Constant(name: "secondShareEnd", path: \.secondShareEnd, range: atLeast0),
        Constant(name: "secondSharePerMille", path: \.secondSharePerMille, range: ratio),
        Constant(name: "lastSharePerMille", path: \.lastSharePerMille, range: ratio),
        Constant(name: "quantumLimit", path: \.quantumLimit, range: atLeast1),
        Constant(name: "quantumDivisor", path: \.quantumDivisor, range: atLeast1),
        Constant(name: "cap", path: \.cap, range: atLeast0),
        Constant(name: "growthPerMille", path: \.growthPerMille, range: ratio),
        Constant(name: "elevatedEnterPerMille", path: \.elevatedEnterPerMille, range: atLeast0),
        Constant(name: "elevatedLeavePerMille", path: \.elevatedLeavePerMille, range: atLeast0),
        Constant(name: "lowEnterPerMille", path: \.lowEnterPerMille, range: atLeast0),
        Constant(name: "lowLeavePerMille", path: \.lowLeavePerMille, range: atLeast0),
        Constant(name: "criticalEnterPerMille", path: \.criticalEnterPerMille, range: atLeast0),
        Constant(name: "criticalLeavePerMille", path: \.criticalLeavePerMille, range: atLeast0),
    ]
}

internal import ArgumentParser
internal import PrefetchCache

/// `cachectl trim`
struct Trim: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim",
        abstract: "Evicts items that the cache should no longer hold, as a running app does.",
        discussion: Examples.trim.discussion(
            """
            Expired items are evicted, and the coldest items while too little of the budget is free or the \
            volume is short of space. Items that an app has pinned, or is reading or opening, stay.
            """))

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        try await session.cache.trim()
        let report = try await session.cache.capacity()
        guard !session.output.isJSON else { return try session.output.print(json: TrimRecord(report)) }
        let (charged, budget) = (report.chargedBytes, report.budgetBytes)
        var table = TextTable([.left, .left])
        table.add([
            "charged", "\(Bar.text(charged, of: budget)), \(Size.text(charged)) of \(Size.text(budget))",
        ])
        table.add(["pressure", report.pressure.rawValue])
        for line in table.lines { try session.output.confirm(line) }
    }
}

private struct TrimRecord: Encodable {
    let chargedBytes: Int64
    let budgetBytes: Int64
    let pressure: String

    init(_ report: CapacityReport) {
        chargedBytes = report.chargedBytes
        budgetBytes = report.budgetBytes
        pressure = report.pressure.rawValue
    }
}

internal import PrefetchCache

/// The configuration as text, one setting per line.
struct ConfigurationTable {
    private let configuration: CacheConfiguration
    private let report: CapacityReport

    init(_ configuration: CacheConfiguration, _ report: CapacityReport) {
        self.configuration = configuration
        self.report = report
    }

    var lines: [String] {
        var table = TextTable([.left, .left])
        table.add(["budget", budget])
        table.add(["cap", configuration.budget.capBytes.map(Size.exactText) ?? "none"])
        table.add(["largest item", largestItem])
        table.add(["storing", Switch(configuration.isStoringEnabled).rawValue])
        table.add(["policy", configuration.evictionPolicy.rawValue])
        table.add(["capacity model", model])
        return table.lines
    }

    private var budget: String {
        let inForce = Size.exactText(report.budgetBytes)
        return configuration.budget.isFixed ? "\(inForce), fixed" : "automatic, now \(inForce)"
    }

    private var largestItem: String {
        if let largest = configuration.largestItem { return Size.exactText(largest.bytes) }
        return "automatic, half the budget, now \(Size.exactText(report.largestItemBytes))"
    }

    private var model: String {
        configuration.capacityModel == CapacityModel()
            ? "default" : "customised, see configuration.json"
    }
}

extension CacheConfiguration.Budget {
    /// The name in JSON.
    var name: String { isFixed ? "fixed" : "automatic" }

    var isFixed: Bool { if case .fixed = self { true } else { false } }

    /// The limit of an automatic budget.
    var capBytes: Int64? { if case .automaticUpTo(let cap) = self { cap.bytes } else { nil } }
}

internal import ArgumentParser
internal import PrefetchCache

/// `cachectl configure`
struct Configure: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "configure",
        abstract: "Changes or prints the configuration, which the app and all commands share.",
        discussion: Examples.configure.discussion(
            """
            Settings that are not given stay unchanged. A smaller budget takes effect at once: the coldest items \
            are evicted. 'cachectl capacity' shows how an automatic budget is computed.
            """))

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The limit for all items together: a size such as 2GiB, or automatic for as much as the "
                + "volume can spare.", valueName: "size|automatic"),
        transform: SizeOr.parsing("automatic"))
    var budget: SizeOr?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Makes the budget automatic and limits it to a size; none removes the limit.",
            valueName: "size|none"),
        transform: SizeOr.parsing("none"))
    var cap: SizeOr?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The limit for one item; automatic is half the budget.",
            valueName: "size|automatic"),
        transform: SizeOr.parsing("automatic"))
    var largest: SizeOr?

    @Option(help: ArgumentHelp("Whether new items are stored.", valueName: "on|off"))
    var storing: Switch?

    @Option(
        help: ArgumentHelp("The order in which items are evicted.", valueName: "lru|fifo|sieve"))
    var policy: EvictionPolicyChoice?

    @OptionGroup var shared: SharedOptions

    var needsCache: Bool { !isChange }

    func validate() throws {
        if case .size = budget, cap != nil {
            throw ValidationError(
                "--cap limits an automatic budget, and --budget <size> fixes it; give one of the two")
        }
    }

    func perform(in session: Session) async throws {
        // Printing the configuration must not write it.
        let new =
            if isChange {
                try await session.cache.configure { $0 = changed($0) }
            } else {
                try await session.cache.configuration()
            }
        let report = try await session.cache.capacity()
        guard session.output.isJSON else {
            for line in ConfigurationTable(new, report).lines {
                if isChange { try session.output.confirm(line) } else { try session.output.print(line) }
            }
            return
        }
        try session.output.print(json: ConfigurationRecord(new, report))
    }

    private var isChange: Bool {
        budget != nil || cap != nil || largest != nil || storing != nil || policy != nil
    }

    private func changed(_ old: CacheConfiguration) -> CacheConfiguration {
        var new = old
        new.budget = changed(old.budget)
        switch largest {
        case .size(let size): new.largestItem = size
        case .word: new.largestItem = nil
        case nil: break
        }
        if let storing { new.isStoringEnabled = storing == .on }
        if let policy { new.evictionPolicy = policy }
        return new
    }

    private func changed(_ old: CacheConfiguration.Budget) -> CacheConfiguration.Budget {
        switch (budget, cap) {
        case (.size(let size), _): .fixed(size)
        case (_, .size(let cap)): .automaticUpTo(cap)
        case (.word, .word): .automatic
        // A limit stays until it is removed.
        case (.word, nil): if case .automaticUpTo = old { old } else { .automatic }
        case (nil, .word): if case .automaticUpTo = old { .automatic } else { old }
        case (nil, nil): old
        }
    }
}

/// The configuration as JSON.
private struct ConfigurationRecord: Encodable {
    let budget: String
    /// The budget in force.
    let budgetBytes: Int64
    let budgetCapBytes: Nullable<Int64>
    let largestItemBytes: Nullable<Int64>
    let storing: Bool
    let evictionPolicy: String
    let isDefaultBudget: Bool
    let isDefaultCapacityModel: Bool

    init(_ configuration: CacheConfiguration, _ report: CapacityReport) {
        budget = configuration.budget.name
        budgetBytes = report.budgetBytes
        budgetCapBytes = Nullable(configuration.budget.capBytes)
        largestItemBytes = Nullable(configuration.largestItem?.bytes)
        storing = configuration.isStoringEnabled
        evictionPolicy = configuration.evictionPolicy.rawValue
        isDefaultBudget = configuration.budget == .automatic
        isDefaultCapacityModel = configuration.capacityModel == CapacityModel()
    }
}

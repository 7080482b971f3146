internal import ArgumentParser
internal import PrefetchCaching

struct Configure: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "configure",
        abstract: "Changes or prints the configuration.",
        discussion: """
            Settings that are not given stay unchanged. A smaller budget takes effect at once: the coldest items \
            are evicted. 'cachectl capacity' shows how an automatic budget is computed.

            EXAMPLES:
              # Print the configuration
              cachectl configure --app org.example.app
              # Fix the budget
              cachectl configure --budget 2GiB --app org.example.app
              # Leave more of the volume to others
              cachectl configure --keep-free 20GB --app org.example.app
              # Limit an automatic budget
              cachectl configure --cap 500MB --policy value --app org.example.app
            """)

    @Option(
        "The limit for all items together: a size such as 2GiB, or automatic for as much as the "
            + "volume can spare.", "size|automatic", parse: SizeOr.parsing("automatic"))
    var budget: SizeOr?

    @Option(
        "Makes the budget automatic and limits it to a size; none removes the limit.", "size|none",
        parse: SizeOr.parsing("none"))
    var cap: SizeOr?

    @Option(
        "The limit for one item; automatic is half the budget.", "size|automatic",
        parse: SizeOr.parsing("automatic"))
    var largest: SizeOr?

    @Option(
        "What has to stay free on the volume, whoever uses it: a size, or automatic for 15 % of the volume, at most "
            + "4 GiB.", "size|automatic", parse: SizeOr.parsing("automatic"))
    var keepFree: SizeOr?

    @Option(help: ArgumentHelp("Whether new items are stored.", valueName: "on|off"))
    var storing: Switch?

    @Option(help: ArgumentHelp("The order in which items are evicted.", valueName: "lru|value"))
    var policy: EvictionPolicyChoice?

    @OptionGroup var shared: SharedOptions

    var needsCache: Bool { !isChange }
    var isLooking: Bool { !isChange }

    func validate() throws {
        if case .size = budget, cap != nil {
            throw ValidationError(
                "--cap limits an automatic budget, and --budget <size> fixes it; give one of the two")
        }
        for case (let option, .size(let size)?) in [("--budget", budget), ("--cap", cap)]
        where (1...65_536).contains(size.bytes) {
            throw ValidationError(
                "\(option) \(size.bytes) bytes holds nothing, as the catalog alone takes 60 KiB; give a unit, such as 20MB"
            )
        }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        // Printing the configuration must not write the file.
        guard isChange else {
            let (configuration, report) = try await (cache.configuration(), cache.capacity())
            return try output.report(configuration.json(report), configuration.lines(report))
        }
        let (new, evicted) = try await Evicted.during(cache) {
            try await cache.configure { $0 = changed($0) }
        }
        let report = try await cache.capacity()
        try output.report(
            new.json(report).adding(["evictedItems": evicted.items, "evictedBytes": evicted.bytes]),
            new.lines(report) + (evicted.items > 0 ? ["", "evicted \(evicted.text)"] : []),
            isConfirmation: true)
    }

    private var isChange: Bool {
        budget != nil || cap != nil || largest != nil || keepFree != nil || storing != nil || policy != nil
    }

    private func changed(_ old: CacheConfiguration) -> CacheConfiguration {
        var new = old
        new.budget = changed(old.budget)
        if let largest { new.largestItem = largest.size }
        if let keepFree { new.capacityModel.fixedReserve = keepFree.size?.bytes }
        if let storing { new.isStoringEnabled = storing == .on }
        if let policy { new.evictionPolicy = policy }
        return new
    }

    private func changed(_ old: CacheConfiguration.Budget) -> CacheConfiguration.Budget {
        switch (budget, cap) {
        case (.size(let size), _): .fixed(size)
        case (_, .size(let cap)): .automaticUpTo(cap)
        case (.word, .word): .automatic
        // `--budget automatic` keeps a cap until `--cap none` removes it.
        case (.word, nil): if case .automaticUpTo = old { old } else { .automatic }
        case (nil, .word): if case .automaticUpTo = old { .automatic } else { old }
        case (nil, nil): old
        }
    }
}

extension CacheConfiguration {
    fileprivate func json(_ report: CapacityReport) -> JSONObject {
        [
            "budget": budget.name, "budgetBytes": report.budgetBytes,
            "budgetCapBytes": budget.capBytes.orNull,
            "largestItemBytes": (largestItem?.bytes).orNull, "storing": isStoringEnabled,
            "keptFreeBytes": report.capacity.reserve, "evictionPolicy": evictionPolicy.rawValue,
            "isDefaultBudget": budget == .automatic,
            "isDefaultCapacityModel": capacityModel == CapacityModel(),
        ]
    }

    fileprivate func lines(_ report: CapacityReport) -> [String] {
        let budgetNow = Size.exactText(report.budgetBytes)
        return TextTable([
            "budget": budget.isFixed ? "\(budgetNow), fixed" : "automatic, now \(budgetNow)",
            "cap": budget.capBytes.map(Size.exactText) ?? "none",
            "largest item": largestItem.map { Size.exactText($0.bytes) }
                ?? "automatic, half the budget, now \(Size.exactText(report.largestItemBytes))",
            "keep free": capacityModel.fixedReserve.map(Size.exactText)
                ?? "automatic, now \(Size.exactText(report.capacity.reserve))",
            "storing": isStoringEnabled ? "on" : "off",
            "policy": evictionPolicy.rawValue,
            "capacity model": isModelCustomised ? "customised, see configuration.json" : "default",
        ]).lines
    }
}

extension CacheConfiguration {
    /// Whether the model differs from the default in more than the reserve, which is shown by itself.
    private var isModelCustomised: Bool {
        var model = capacityModel
        if model.fixedReserve != nil { model.fixedReserve = nil }
        return model != CapacityModel()
    }
}

extension CacheConfiguration.Budget {
    /// The name in JSON.
    var name: String { isFixed ? "fixed" : "automatic" }

    var isFixed: Bool { if case .fixed = self { true } else { false } }

    /// The limit of an automatic budget.
    var capBytes: Int64? { if case .automaticUpTo(let cap) = self { cap.bytes } else { nil } }
}

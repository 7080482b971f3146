internal import ArgumentParser
internal import PrefetchCache

/// `cachectl configure`
struct Configure: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "configure",
        abstract: "Changes the configuration for the app and all commands, or prints it.",
        discussion: "A smaller budget takes effect at once: the coldest items are evicted.")

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The most that all items together may take, such as 2GiB.", valueName: "size"),
        transform: ByteSize.parse)
    var budget: ByteCount?

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        var configuration = try await session.cache.configuration()
        if let budget {
            configuration.budget = .fixed(budget)
            try await session.cache.configure(configuration)
        }
        try report(configuration, to: session.output)
    }

    private func report(_ configuration: CacheConfiguration, to output: Output) throws {
        let isDefault = configuration.budget == .automatic
        let bytes: Int64 = if case .fixed(let budget) = configuration.budget { budget.bytes } else { 0 }
        if output.isJSON {
            try output.print(json: ConfigurationRecord(budgetBytes: bytes, isDefaultBudget: isDefault))
        } else {
            let origin = isDefault ? ", the default" : ""
            try output.print("budget  \(Size.text(bytes)) (\(bytes) bytes\(origin))")
        }
    }
}

private struct ConfigurationRecord: Encodable {
    let budgetBytes: Int64
    let isDefaultBudget: Bool
}

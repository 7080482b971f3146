internal import ArgumentParser

struct Sample: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Adds up the real files of a cache, again and again, and prints the largest sums.")

    @Option(help: "The app's container.")
    var container: String
    @Option(help: "How long.")
    var seconds: Double
    @Option(help: "What the files may take together, in bytes.")
    var budget: Int64
    @Option(help: "Go on until so many bytes were there at once, for at most two minutes.")
    var least: Int64 = 0

    func run() throws {
        let root = container + "/Library/Caches/PrefetchCache"
        let deadline = ContinuousClock.now + .seconds(seconds)
        var sampler = Sampler(budget: budget)
        repeat {
            try sampler.sample(root)
        } while ContinuousClock.now < deadline
            || sampler.report.largestLowerBound < least && ContinuousClock.now < deadline + .seconds(120)
        try printJSON(sampler.report)
    }
}

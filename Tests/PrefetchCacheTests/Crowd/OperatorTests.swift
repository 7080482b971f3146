import FileSystemTestSupport
import Foundation
import SystemPackage
import Testing

@testable import PrefetchCaching
@testable import testprograms

/// The operator's commands beside an app that is busy: for a few seconds, or for a minute where
/// `PREFETCHCACHE_LONG_TESTS` is set.
@Suite(.serialized) struct OperatorTests {
    private static let budget = ByteCount.mebibytes(64)
    private static let seconds = TestRun.isLong ? 60 : 4

    private let container = TemporaryContainer.make(budget: Self.budget, largestItem: .mebibytes(16))

    /// Files that are the user's before all begins: some are in backups, and some are not.
    private func promote() throws -> [ItemKey: (content: Data, path: String)] {
        let engine = try container.engine(now: { Int64(Date().timeIntervalSince1970 * 1000) })
        defer { #expect(throws: Never.self) { try engine.close() } }
        var promoted: [ItemKey: (content: Data, path: String)] = [:]
        for number in 0..<20 {
            let key = try ItemKey("promoted-\(number)")
            let name = FileName(sanitizing: key.string)
            let content = noise(20_000, seed: UInt64(number))
            let metadata = ItemMetadata(
                key: key,
                destination: .in(
                    number.isMultiple(of: 2) ? .documents : .applicationSupport, name,
                    backup: number < 10 ? .include : .exclude))
            let outcome = try engine.store(content, as: metadata)
            guard case .stored = outcome else {
                Issue.record("\(key) was refused: \(outcome)")
                continue
            }
            promoted[key] = (content, try #require(try engine.open(key).value).path.string)
        }
        return promoted
    }

    private struct Verified: Decodable {
        let damaged: Int
        let missing: Int
        let unreadable: Int
    }

    private struct Repaired: Decodable {
        struct Step: Decodable {
            let action: String
        }

        let steps: [Step]
    }

    /// Runs all the commands once.
    ///
    /// - Returns: What they should not have said.
    private func operate(_ round: Int) throws -> [String] {
        var faults: [String] = []
        let commands = [
            ["repair", "--json"], ["evict", "--to-bytes", "40MiB"],
            ["purge", "--excluded", "--older-than", "1d"], ["verify", "--json", "--sample", "40"],
            round.isMultiple(of: 3) ? ["evict", "--older-than", "1s"] : ["stats", "--json"],
        ]
        for arguments in commands {
            let outcome = try BuiltProduct.run("cachectl", arguments + ["--container", container.root.path])
            if outcome.status != 0 { faults.append("\(arguments): \(outcome.status), \(outcome.errors)") }
            switch arguments[0] {
            case "verify" where outcome.status == 0:
                let verified = try JSONDecoder().decode(Verified.self, from: outcome.output)
                if verified.damaged > 0 || verified.unreadable > 0 { faults.append("\(verified)") }
            case "repair" where outcome.status == 0:
                // Nobody died, and nothing is damaged.
                let alarming: Set = [
                    "itemQuarantined", "promotionResolved", "stagedFileRemoved", "catalogRebuilt",
                ]
                let steps = try JSONDecoder().decode(Repaired.self, from: outcome.output).steps
                faults += steps.map(\.action).filter(alarming.contains)
            default: break
            }
        }
        return faults
    }

    @Test func theCommandsOfAnOperatorBesideABusyApp() async throws {
        let promoted = try promote()
        #expect(promoted.count == 20)
        let comment: Comment = "seed \(TestRun.seed)"
        // The writer takes a moment to start, and ends a moment later.
        let sampler = Task(executorPreference: BlockingExecutor(width: 1)) {
            var sampler = Sampler(budget: Self.budget.bytes)
            try sampler.sample(
                container.caches.path, until: ContinuousClock.now + .seconds(Self.seconds + 1))
            return sampler.report
        }
        let writer = try StressProcess(
            [
                "store", "--seconds", "\(Self.seconds)", "--tasks", "4", "--seed",
                "\(TestRun.seed % 1_000_000)",
            ],
            in: container)

        let end = ContinuousClock.now + .seconds(Self.seconds)
        var rounds = 0
        repeat {
            let faults = try operate(rounds)
            #expect(faults == [], comment)
            rounds += 1
        } while ContinuousClock.now < end

        let sampled = try await sampler.value
        let report: WorkReport = try await writer.outcome().report()
        #expect(report.faults == [], comment)
        #expect(report.stored > 0 && sampled.samples > 10, comment)
        #expect(sampled.lowerBoundsAboveBudget == 0, "\(sampled), \(comment)")

        let engine = try container.engine()
        try expectBooksLikeDisk(engine, container, comment)
        #expect(
            try engine.statistics().items
                == container.files(below: container.items).count, comment)
        for (key, file) in promoted {
            #expect(try Data(contentsOf: URL(filePath: file.path)) == file.content, comment)
            let opened = try #require(try engine.open(key).value, comment)
            #expect(!opened.isFirstOpen && opened.path.string == file.path, comment)
        }
        try engine.close()
        print("operator: \(rounds) rounds beside \(report.stored) stores, \(sampled), \(comment)")
    }
}

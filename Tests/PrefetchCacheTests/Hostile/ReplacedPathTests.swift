import FileSystem
import FileSystemTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCache

/// Somebody puts a link, a pipe or a folder in the place of what the cache is about to use, before any of its calls:
/// nothing outside of the container is touched.
@Suite struct ReplacedPathTests {
    private struct Case {
        let call: Int
        let object: Attacker.Object
    }

    /// As many as there is time for; all of them in a long run.
    private static func cases(_ calls: Int, seed: UInt64) -> [Case] {
        var random = SeededGenerator(seed: seed)
        let all = (0..<calls).flatMap { call in
            Attacker.Object.allCases.map { Case(call: call, object: $0) }
        }
        return Array(
            all.shuffled(using: &random)
                .prefix(TestRun.count(debug: 16, optimised: 400, long: all.count)))
    }

    /// What the cache alone is to write to: the folders of areas were named by the user, and may be links.
    private static func isAttackable(_ path: String, _ container: TemporaryContainer) -> Bool {
        [container.caches, container.support].contains { path.hasPrefix($0.path) }
            || path.hasPrefix(container.documents.path + "/")
    }

    /// - Returns: How many calls could have been attacked, and what was.
    private static func work(
        _ container: TemporaryContainer, with weaknesses: Set<Weakness> = [],
        attackedAt call: Int, _ attack: @escaping @Sendable (String) -> Void
    ) -> (calls: Int, wrongAnswers: [String]) {
        let count = Atomic(0)
        let fileSystem = InterceptingFileSystem(with: weaknesses) { operation in
            guard let path = operation.newPath ?? operation.path, isAttackable(path, container),
                !path.hasSuffix("/.")
            else { return }
            if count.wrappingAdd(1, ordering: .relaxed).oldValue == call { attack(path) }
        }
        let work = AttackedWork(container)
        work.run(on: fileSystem)
        return (count.load(ordering: .relaxed), work.wrongAnswers)
    }

    /// The attack can succeed: where links are followed it does.
    @Test func whereLinksAreFollowedSomethingIsTouched() throws {
        let calls = Self.work(
            try TemporaryContainer(in: .fastTemporaryFolder), attackedAt: -1, { _ in }
        ).calls
        for call in stride(from: 0, to: calls, by: 3) {
            let container = try TemporaryContainer(in: .fastTemporaryFolder)
            let attacker = try Attacker()
            _ = Self.work(container, with: [.followingLinks], attackedAt: call) { path in
                _ = attacker.replace(path, with: .linkToFolder)
            }
            guard try attacker.harm() == [] else { return }
        }
        Issue.record("nobody misses it")
    }

    @Test func nothingOutsideIsTouched() throws {
        let seed = TestRun.seed
        let unattacked = Self.work(
            try TemporaryContainer(in: .fastTemporaryFolder), attackedAt: -1, { _ in })
        #expect(unattacked.calls > 200)
        var record = AttackRecord("attackers.replaced-paths")
        for attacked in Self.cases(unattacked.calls, seed: seed) {
            let container = try TemporaryContainer(in: .fastTemporaryFolder)
            let attacker = try Attacker()
            let place = Mutex("")
            let outcome = Self.work(container, attackedAt: attacked.call) { path in
                place.withLock { $0 = attacker.replace(path, with: attacked.object) ? path : "" }
            }
            // The next launch finds what was planted.
            let next = AttackedWork(container)
            next.run(on: LiveFileSystem())
            let path = place.withLock { $0 }
            guard !path.isEmpty else { continue }
            record.cases += 1
            record.wrongBytes += outcome.wrongAnswers.count + next.wrongAnswers.count
            let harm = try attacker.harm()
            record.foreignTouched += harm.count
            #expect(
                harm == [] && outcome.wrongAnswers == [] && next.wrongAnswers == [],
                "\(attacked.object) at call \(attacked.call), \(path.dropFirst(container.root.path.count)); \(harm), seed \(seed)"
            )
        }
        record.report()
        #expect(record.cases > 8)
    }
}

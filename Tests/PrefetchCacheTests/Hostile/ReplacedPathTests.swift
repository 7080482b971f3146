import Dispatch
import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Somebody puts a link, a pipe or a folder in the place of what the cache is about to use, before any of its calls:
/// nothing outside of the container is touched.
@Suite struct ReplacedPathTests {
    private struct Case {
        let call: Int
        let object: Attacker.Object
    }

    /// In the order in which they are worth trying. What comes next tells a look at a database's name from the last
    /// one before SQLite opens it.
    ///
    /// - Parameter shapes: Of all calls that can be attacked.
    private static func cases(_ shapes: [String], seed: UInt64) -> [Case] {
        var random = SeededGenerator(seed: seed)
        let all = shapes.indices.flatMap { call in
            Attacker.Object.allCases.map { Case(call: call, object: $0) }
        }
        return spread(all, overShapes: { shapes[$0.call...].prefix(2).joined() }, using: &random)
    }

    /// Whether the cache follows it, once it has found the folder of items to be one: "What is not" in the article.
    private static func isFollowed(_ object: Attacker.Object, at path: String) -> Bool {
        object == .linkToFolder && path.wholeMatch(of: /.*\/items\/[0-9a-f]{2}/) != nil
    }

    /// Whether SQLite would wait for somebody who writes to the pipe: it opens its side files by name, whenever it
    /// begins a transaction. "What is not" in the article.
    private static func wouldWait(_ object: Attacker.Object, at path: String) -> Bool {
        object == .pipe && CacheLayout.databaseSides.contains { path.hasSuffix(".sqlite" + $0) }
    }

    /// What the cache alone is to write to: the folders of areas were named by the user, and may be links.
    private static func isAttackable(_ path: String, _ container: TemporaryContainer) -> Bool {
        [container.caches, container.support].contains { path.hasPrefix($0.path) }
            || path.hasPrefix(container.documents.path + "/")
    }

    /// - Returns: The shapes of the calls that could have been attacked, and what was done.
    private static func work(
        _ container: TemporaryContainer, with weaknesses: Set<Weakness> = [],
        attackedAt call: Int, _ attack: @escaping @Sendable (String) -> Void
    ) -> (shapes: [String], work: AttackedWork) {
        let shapes = Mutex<[String]>([])
        let fileSystem = InterceptingFileSystem(with: weaknesses) { operation in
            guard let path = operation.newPath ?? operation.path, isAttackable(path, container),
                !path.hasSuffix("/.")
            else { return }
            let number = shapes.withLock { shapes in
                shapes.append(operation.shape)
                return shapes.count - 1
            }
            if number == call { attack(path) }
        }
        let work = AttackedWork(container)
        work.run(on: fileSystem)
        return (shapes.withLock { $0 }, work)
    }

    /// The attack can succeed: where links are followed it does.
    @Test func whereLinksAreFollowedSomethingIsTouched() throws {
        let calls = Self.work(
            try TemporaryContainer(in: .fastTemporaryFolder), attackedAt: -1, { _ in }
        ).shapes.count
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

    /// What is at stake: the cache, what was handed over, and what others own, inside of the container and outside.
    private struct Attack {
        let container: TemporaryContainer
        let attacker: Attacker
        let sentinels: Sentinels
        /// What was replaced.
        let path: String
        /// What the cache did meanwhile, with what was planted, and without.
        let works: [AttackedWork]

        /// - Returns: `nil` where nothing could be put in the place of what the cache used.
        init?(_ attacked: Case) throws {
            container = try TemporaryContainer(in: .fastTemporaryFolder)
            sentinels = try Sentinels(in: container, named: ["text"])
            let attacker = try Attacker()
            let place = Mutex("")
            let first = ReplacedPathTests.work(container, attackedAt: attacked.call) { path in
                guard !wouldWait(attacked.object, at: path), !isFollowed(attacked.object, at: path) else {
                    return
                }
                place.withLock { $0 = attacker.replace(path, with: attacked.object) ? path : "" }
            }.work
            self.attacker = attacker
            path = place.withLock { $0 }
            guard !path.isEmpty else { return nil }
            // The next launch finds what was planted; the one after it does not.
            let second = AttackedWork(container)
            second.run(on: LiveFileSystem())
            try attacker.clearUp(below: container.root)
            let third = AttackedWork(container)
            third.run(on: LiveFileSystem())
            works = [first, second, third]
        }

        /// Files that were handed over and are not what they were, but for what the attacker has taken himself.
        var lost: [String] {
            var lost = works.flatMap(\.handedOver).filter { file, content in
                !isTaken(file.string) && !isSame(FileManager.default.contents(atPath: file.string), content)
            }.map { $0.key.string }
            // Who exchanges a staged file has that one handed over: "What is not" in the article.
            if path.contains("/staging/"), !lost.isEmpty { lost.removeFirst() }
            return lost
        }

        private func isTaken(_ file: String) -> Bool { file == path || file.hasPrefix(path + "/") }

        func judge(_ record: inout AttackRecord, _ comment: Comment) throws {
            record.cases += 1
            let wrong = works.flatMap(\.wrongAnswers)
            let touched = try attacker.harm() + sentinels.touched { isTaken($0.path) }
            record.note(\.wrongBytes, wrong.count)
            record.note(\.foreignTouched, touched.count)
            record.note(\.lostPromotions, lost.count)
            #expect(wrong == [] && touched == [] && lost == [], comment)
            #expect(works.last?.failures == [], "when nothing is planted any more; \(comment)")
        }
    }

    @Test func nothingOutsideIsTouched() throws {
        let seed = TestRun.seed
        let sound = Self.work(try TemporaryContainer(in: .fastTemporaryFolder), attackedAt: -1, { _ in })
        #expect(sound.shapes.count > 200)
        #expect(sound.work.failures == [])
        var record = AttackRecord("attackers.replaced-paths", of: "runs of everything with a path replaced")
        // All of them, thousands, would take an hour.
        let wanted = TestRun.count(short: 5, long: 1000)
        for attacked in Self.cases(sound.shapes, seed: seed) where record.cases < wanted {
            let name = "\(attacked.object) at call \(attacked.call), seed \(seed)"
            guard let attack = try endingIfItHangs(name, { try Attack(attacked) }) else { continue }
            let place = attack.path.dropFirst(attack.container.root.path.count)
            try attack.judge(&record, "\(attacked.object) at call \(attacked.call), \(place), seed \(seed)")
        }
        record.report()
        #expect(record.cases > 4)
    }

    /// What SQLite opens by its name was looked at before, and nothing came between that an attacker could use.
    @Test func theLastLookAtADatabaseComesRightBeforeItIsOpened() throws {
        let container = try TemporaryContainer()
        let last = Mutex<[UInt: FileSystemTestSupport.Operation]>([:])
        let opened = Mutex<[(name: String, after: FileSystemTestSupport.Operation?)]>([])
        let thread = { @Sendable in UInt(pthread_self()) }
        try SQLiteFaults.watchingOpens(below: container.root) { name in
            let before = last.withLock { $0[thread()] }
            opened.withLock { $0.append((name, before)) }
        } _: {
            let fileSystem = InterceptingFileSystem { operation in
                last.withLock { $0[thread()] = operation }
            }
            AttackedWork(container).run(on: fileSystem)
            let caches = Directory(
                try fileSystem.open(
                    FilePath(container.root.appending(path: "Library/Caches").path), in: .workingDirectory,
                    .directory), of: fileSystem)
            _ = try CatalogSnapshot.forEach(in: caches, at: container.areas().caches) { _ in }
        }
        let databases = opened.withLock { $0 }.filter { $0.name.hasSuffix(".sqlite") }
        #expect(Set(databases.map(\.name)).count == 2)
        #expect(databases.count > 5)
        for (name, operation) in databases {
            #expect(
                operation?.kind == .attributes && operation?.path == name, "\(name) after \(operation as Any)"
            )
        }
    }
}

/// Runs `body`, and ends the process if that takes minutes: a thread that waits for a pipe cannot be cancelled, and a
/// test that waits for ever tells nobody why.
private func endingIfItHangs<Result>(_ what: String, _ body: () throws -> Result) rethrows -> Result {
    // Nothing less ends a thread that is blocked in a system call, and the message names the case.
    let end = DispatchWorkItem { fatalError("\(what) hangs") }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(300), execute: end)
    defer { end.cancel() }
    return try body()
}

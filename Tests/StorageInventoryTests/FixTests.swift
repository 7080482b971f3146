import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import StorageInventory

/// `inventory --check --fix` mends what a program can mend, and `--undo` takes it back.
@Suite struct FixTests {
    private static let mendable = RuleTests.faults.filter { fault in
        StorageRules.infos.contains { $0.name == fault.rule && $0.remedy != nil }
    }

    private let container: SampleContainer
    private let journal: String

    init() async throws {
        container = try SampleContainer()
        try await container.use()
        journal = container.root.path + ".jsonl"
    }

    private func tidy() {
        for path in [journal, journal + ".discarded"] where FileManager.default.fileExists(atPath: path) {
            #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) }
        }
    }

    /// What an app and a backup see: all but the times of folders and of locks.
    private func scene() throws -> [String: String] {
        let inventory = try container.inventory()
        let live = LiveFileSystem()
        var scene: [String: String] = [:]
        for (number, folder) in inventory.folders.enumerated() {
            scene[inventory.path(ofFolder: Int32(number)).string + "/"] =
                "\(folder.attributes.permissions) \(folder.isExcludedItself) \(folder.isTagged)"
        }
        for file in inventory.files {
            let path = inventory.path(of: file).string
            // A look is no use of a file.
            let content = try live.withFile(
                FilePath(container.url(path).path), in: .workingDirectory, .readWithoutAccessTime
            ) { open throws(FileSystemError) in try live.contentChecksum(of: open, count: file.length) }
            scene[path] = "\(file.identity.inode) \(file.modified) \(content) \(file.exclusions.rawValue)"
        }
        return scene
    }

    @discardableResult
    private func inventory(_ arguments: String..., status: Int32) throws -> String {
        let outcome = try BuiltTool.run(["inventory"] + arguments, on: container)
        #expect(outcome.status == status, "\(arguments): \(outcome.output)")
        return outcome.output
    }

    private func found() throws -> [String] { try container.findings().map(\.rule.name).sorted() }

    /// What a dry run says, as the act itself says it.
    private func past(_ text: String) -> String {
        let words = [
            "would move ": "moved ", "would create ": "created ", "would remove ": "removed ",
            "would exclude ": "excluded ", "would include ": "included ",
            "would restrict ": "restricted ", "would tag ": "tagged ",
        ]
        return words.reduce(text) { $0.replacing($1.key, with: $1.value) }
    }

    @Test(arguments: TestRun.sample(8, of: mendable))
    func eachIsMendedAndTakenBack(_ fault: RuleTests.Fault) throws {
        defer { tidy() }
        try fault.plant(container)
        #expect(try found() == [fault.rule])
        let before = try scene()
        let announced = try inventory(
            "--check", "--unused-for", "30d", "--fix", journal, "--dry-run", status: 0)
        #expect(try scene() == before && announced.contains("would "))
        #expect(!FileManager.default.fileExists(atPath: journal))
        try inventory("--check", "--unused-for", "30d", "--fix", journal, status: 0)
        #expect(try found() == [] && scene() != before)
        try inventory("--undo", journal, status: 0)
        #expect(try scene() == before)
        #expect(try found() == [fault.rule])
        #expect(!FileManager.default.fileExists(atPath: journal))
    }

    /// A mark that an earlier fix has set must not make the next one take the file out.
    @Test func nothingIsTakenOutForItsAgeUnlessTheAgeIsStated() throws {
        defer { tidy() }
        for fault in RuleTests.faults where ["excluded-unused", "forgotten"].contains(fault.rule) {
            try fault.plant(container)
        }
        let before = try scene()
        #expect(try inventory("--check", "--fix", journal, status: 1).contains("by hand: 2"))
        #expect(
            try inventory("--check", "--unused-for", "365d", "--fix", journal, status: 1).contains(
                "by hand: 1"))
        #expect(try scene() == before)
    }

    /// What was opened once is the user's, even if its key was forgotten.
    @Test func whatWasOpenedIsNotTakenOut() throws {
        try container.write(
            Data("old".utf8), to: "Library/Application Support/PrefetchCache/files/Old.txt")
        #expect(try found() == ["abandoned"])
        let before = try scene()
        #expect(try inventory("--check", "--fix", journal, status: 1).contains("by hand: 1"))
        #expect(try scene() == before)
    }

    @Test func allAtOnceAreMendedAndTakenBack() throws {
        defer { tidy() }
        for fault in RuleTests.faults { try fault.plant(container) }
        #expect(try found() == RuleTests.faults.map(\.rule).sorted())
        let before = try scene()
        let announced = try inventory(
            "--check", "--unused-for", "30d", "--fix", journal, "--dry-run", status: 1)
        let text = try inventory("--check", "--unused-for", "30d", "--fix", journal, status: 1)
        #expect(past(announced) == text.replacing(", recorded in \(journal)", with: ""))
        let mended = Set(Self.mendable.map(\.rule))
        #expect(try found() == RuleTests.faults.map(\.rule).filter { !mended.contains($0) }.sorted())
        #expect(text.contains("by hand:") && !text.contains("left "))
        try inventory("--undo", journal, status: 0)
        #expect(try scene() == before)
    }

    /// By its type it cannot be had again, wherever it is.
    @Test func theUsersWorkInAFolderOfACacheStaysInBackups() throws {
        defer { tidy() }
        try container.write(Data("thesis".utf8), to: "Documents/Cache/Thesis.docx")
        try container.write(Data("page".utf8), to: "Documents/Cache/page.bin")
        #expect(try found() == ["cached-data-backed-up"])
        try inventory("--check", "--fix", journal, status: 0)
        #expect(try found() == [])
        let file = try #require(try container.inventory().files.first { $0.name.string == "Thesis.docx" })
        #expect(file.isBackedUp)
    }

    @Test func whatIsDoneIsSaidBelowItsFinding() throws {
        defer { tidy() }
        try container.write(Data("log".utf8), to: "Documents/Logs/app.log")
        try container.write(
            Data(#"{"last":"\#(container.root.path)/x"}"#.utf8), to: "Library/Application Support/a.json")
        let text = try inventory("--check", "--fix", journal, status: 1)
        let lines = [
            "warning: Documents/Logs/app.log: it is a log [log-among-documents]",
            "  created the folder Library/Caches/Logs",
            "  moved Documents/Logs/app.log to Library/Caches/Logs/app.log",
            "  removed the empty folder Documents/Logs", "", "by hand:",
            "error: Library/Application Support/a.json: its content contains an absolute path [absolute-path]",
            "", "absolute-path: Store the area and the path below it.", "", "found: 1 error", "",
            "changes: 3, recorded in \(journal); left: 0; by hand: 1", "",
        ]
        #expect(text == lines.joined(separator: "\n"))
    }

    /// A mark on a folder of Library that could be one of the system's would be the next finding.
    @Test func aCacheWhoseNameMayNotBeMarkedMoves() throws {
        defer { tidy() }
        for name in ["1", "2"] {
            try container.write(Data(name.utf8), to: "Library/Application Support/Cache/\(name).bin")
        }
        #expect(try found() == ["cached-data-backed-up"])
        try inventory("--check", "--fix", journal, status: 0)
        #expect(try found() == [])
        #expect(try Data(contentsOf: container.url("Library/Caches/Cache/2.bin")) == Data("2".utf8))
    }

    /// A mark on a folder is one on all that is in it.
    @Test func aFolderIsNotMarkedForSomeOfItsFiles() throws {
        let folder = "Library/Application Support/org.example.app/Voices"
        for fault in RuleTests.faults where fault.rule == "excluded-one-by-one" { try fault.plant(container) }
        try container.write(Data("mine".utf8), to: "\(folder)/deep/own.bin")
        let text = try inventory("--check", "--fix", journal, status: 1)
        #expect(text.contains("by hand: 1"))
        #expect(try container.inventory().folders.allSatisfy { !$0.isExcludedItself || $0.role != nil })
    }

    /// Said before anything is done, and nothing is made on the way.
    @Test func whatWouldHaveToGoToAnotherVolumeStays() throws {
        defer { tidy() }
        let elsewhere = "/dev/shm/StorageInventoryTests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: elsewhere) } }
        for fault in RuleTests.faults where fault.rule == "left-in-tmp" { try fault.plant(container) }
        let before = try scene()
        let file = elsewhere + "/fixes"
        let announced = try inventory("--check", "--fix", file, "--dry-run", status: 1)
        #expect(announced.contains("left tmp/export/one: \(file).discarded is on another volume"))
        #expect(try inventory("--check", "--fix", file, status: 1) == announced)
        #expect(try scene() == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere) == [])
    }

    /// The record of a change is there before the change is made.
    @Test func whateverCallFailsIsTakenBack() throws {
        defer { tidy() }
        for fault in Self.mendable { try fault.plant(container) }
        let before = try scene()
        var steps = 0
        for point in TestRun.numbers(every: 9) {
            steps = point + 1
            var acts: [FixAct] = []
            // Ends as a process does: this record is the last, and all that follows fails.
            let fileSystem = InterceptingFileSystem()
            let calls = Mutex(0)
            let last = steps
            fileSystem.intercept { operation throws(FileSystemError) in
                guard operation.isChange else { return }
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                guard number >= last else { return }
                throw FileSystemError("\(operation.kind)", errno: .ioError)
            }
            let inventory = try container.inventory()
            let options = Checkup.Options(now: .now)
            let findings = Checkup.run(on: inventory, options, in: LiveFileSystem()).findings
            let fixer = Fixer(
                inventory, discardingTo: FilePath(journal + ".discarded"), isDryRun: false, in: fileSystem
            ) { acts.append($0) }
            let outcomes = findings.flatMap { fixer.fix($0) }
            for act in acts.reversed() { #expect(try act.undo(in: LiveFileSystem()) == nil, "\(act)") }
            #expect(try scene() == before, "after \(steps) changes")
            if !outcomes.contains(where: \.isSkipped) { break }
        }
        #expect(steps > 30)
    }

    @Test func nothingIsReplaced() throws {
        defer { tidy() }
        try container.write(Data("old".utf8), to: "Library/Caches/debug.log")
        try container.write(Data("new".utf8), to: "Documents/debug.log")
        let before = try scene()
        let text = try inventory("--check", "--unused-for", "30d", "--fix", journal, status: 1)
        #expect(text.contains("left ") && text.contains("there is something at"))
        // Nothing to undo is no journal.
        #expect(try scene() == before && !FileManager.default.fileExists(atPath: journal))
    }

    /// A link among the folders could lead anywhere.
    @Test func noLinkIsFollowed() throws {
        defer { tidy() }
        let elsewhere = container.root.path + ".elsewhere"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: elsewhere) } }
        try container.write(Data("log".utf8), to: "Documents/Logs/app.log")
        try FileManager.default.createSymbolicLink(
            atPath: container.url("Library/Caches/Logs").path, withDestinationPath: elsewhere)
        #expect(
            try inventory("--check", "--unused-for", "30d", "--fix", journal, status: 1).contains("left "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
        #expect(try Data(contentsOf: container.url("Documents/Logs/app.log")) == Data("log".utf8))
    }

    /// What was changed since is the app's or the user's.
    @Test func whatWasChangedSinceIsKept() throws {
        defer { tidy() }
        for name in ["a", "b", "c"] { try container.write(Data(name.utf8), to: "Documents/\(name).log") }
        try inventory("--check", "--unused-for", "30d", "--fix", journal, status: 0)
        try Data("written anew".utf8).write(to: container.url("Library/Caches/a.log"), options: .atomic)
        try container.write(Data("another".utf8), to: "Documents/b.log")
        let text = try inventory("--undo", journal, status: 1)
        #expect(text.contains("is another file now") && text.contains("there is a file in its place"))
        #expect(text.contains("if the rest is to stay as it is, delete \(journal)"))
        #expect(try Data(contentsOf: container.url("Library/Caches/a.log")) == Data("written anew".utf8))
        #expect(try Data(contentsOf: container.url("Documents/b.log")) == Data("another".utf8))
        #expect(try Data(contentsOf: container.url("Documents/c.log")) == Data("c".utf8))
        // It can be tried again when the place is free.
        try FileManager.default.removeItem(at: container.url("Documents/b.log"))
        try inventory("--undo", journal, status: 1)
        #expect(try Data(contentsOf: container.url("Documents/b.log")) == Data("b".utf8))
    }

    @Test func whatChangesMeanwhileStays() throws {
        try container.write(Data("log".utf8), to: "Documents/app.log")
        let inventory = try container.inventory()
        let findings = try container.findings()
        try container.write(Data("log, continued".utf8), to: "Documents/app.log")
        let fixer = Fixer(
            inventory, discardingTo: FilePath(journal + ".discarded"), isDryRun: false, in: LiveFileSystem()
        ) { _ in Issue.record("recorded") }
        let outcomes = findings.flatMap { fixer.fix($0) }
        #expect(outcomes == [.skipped(FilePath(container.url("Documents/app.log").path), "it has changed")])
    }

    @Test func aJournalIsNewAndElsewhere() throws {
        defer { tidy() }
        try container.write(Data("log".utf8), to: "Documents/app.log")
        try Data("mine".utf8).write(to: URL(filePath: journal))
        #expect(
            try inventory("--check", "--unused-for", "30d", "--fix", journal, status: 73).contains("exists"))
        #expect(try inventory("--undo", journal, status: 65).contains("is not a record"))
        let inside = container.url("Documents/fixes").path
        #expect(try inventory("--check", "--fix", inside, status: 64).contains("name a file elsewhere"))
        #expect(!FileManager.default.fileExists(atPath: inside))
        #expect(try found() == ["log-among-documents"])
    }
}

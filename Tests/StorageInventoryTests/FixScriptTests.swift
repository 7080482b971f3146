import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

/// The script of `inventory --check --fix-script` mends what a script can mend, and nothing else.
@Suite final class FixScriptTests: ContainerSuite {
    private static let mendable = RuleTests.faults.filter { fault in
        StorageRules.infos.contains { $0.name == fault.rule && $0.remedy != nil }
    }

    private let work: TemporaryFolder

    override init() async throws {
        work = try TemporaryFolder()
        try await super.init()
    }

    /// - Parameter days: How long a file may stay unused, if that is stated.
    private func script(unusedFor days: Int64? = nil, by manifest: StorageManifest? = nil) throws -> String {
        let inventory = try container.inventory()
        let options = Checkup.Options(
            now: .now, unusedFor: days.map { $0 * 86_400_000 }, manifest: manifest)
        let findings = Checkup.run(on: inventory, options, in: LiveFileSystem()).findings
        let bytes = try FixScript.text(for: findings, of: inventory, in: LiveFileSystem())
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }

    /// Runs a script.
    ///
    /// - Returns: Whether it says that it could do all.
    @discardableResult
    private func run(_ script: String) throws -> Bool {
        let file = work.path.appending("fix.sh").string
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let discarded = work.path.appending("discarded").string
        return try Command.outcome(of: "/bin/sh", [file, discarded]).status == 0
    }

    @Test(arguments: mendable)
    func eachFaultIsMended(_ fault: Fault) throws {
        try fault.plant(container)
        #expect(try found() == [fault.rule])
        let script = try script(unusedFor: 30)
        #expect(try found() == [fault.rule], "it was only printed")
        #expect(try run(script))
        #expect(try found() == [])
    }

    @Test func allAtOnceAreMendedAndTheRestIsLeft() throws {
        for fault in RuleTests.faults { try fault.plant(container) }
        let script = try script(unusedFor: 30)
        #expect(try run(script))
        let mended = Set(Self.mendable.map(\.rule))
        #expect(try found().sorted() == RuleTests.faults.map(\.rule).filter { !mended.contains($0) }.sorted())
    }

    /// What the promotion recorded decides, and what the manifest says outweighs it: no script undoes another.
    @Test(arguments: ["changed", "include", "false"], [true, false])
    func anOpenedFileHasOneFate(_ reason: String, isMarked: Bool) async throws {
        let path = "Documents/Paper.pdf"
        let item = ItemMetadata(key: "paper", destination: .documents("Paper.pdf", backup: .exclude))
        try await container.open([(item, content("paper"))])
        if reason == "changed" { try write("my own words", to: path) }
        try container.mark(isMarked ? .exclude : .include, path)
        var manifest: StorageManifest?
        if reason != "changed" {
            let entry = try StorageManifest.Entry.sample(
                path, backup: reason == "include" ? .include : .system,
                regenerable: reason == "include" ? .download : .no)
            manifest = StorageManifest(app: nil, entries: [entry])
        }
        func found() throws -> Int { try container.findings(by: manifest).count { $0.path.string == path } }
        #expect(try found() == (isMarked ? 1 : 0))
        try run(script(by: manifest))
        #expect(try found() == 0)
        let file = try #require(try container.inventory().files.first { $0.name.string == "Paper.pdf" })
        #expect(file.isBackedUp)
    }

    /// A mark that an earlier script has set must not make the next one take the file out.
    @Test func nothingIsTakenOutForItsAgeUnlessTheAgeIsStated() throws {
        for fault in RuleTests.faults where ["excluded-unused", "forgotten"].contains(fault.rule) {
            try fault.plant(container)
        }
        #expect(try script().components(separatedBy: "# By hand: ").count == 3)
        #expect(try script(unusedFor: 365).components(separatedBy: "# By hand: ").count == 2)
    }

    /// What was opened once is the user's, even if its key was forgotten.
    @Test func whatWasOpenedIsNotTakenOut() throws {
        try write("old", to: "Library/Application Support/PrefetchCache/files/Old.txt")
        #expect(try found() == ["abandoned"])
        #expect(try script().contains("# By hand: "))
    }

    /// By its type it cannot be had again, wherever it is.
    @Test func theUsersWorkInAFolderOfACacheStaysInBackups() throws {
        try write("thesis", to: "Documents/Cache/Thesis.docx")
        try write("page", to: "Documents/Cache/page.bin")
        #expect(try found() == ["cached-data-backed-up"])
        #expect(try run(script()))
        #expect(try found() == [])
        let file = try #require(try container.inventory().files.first { $0.name.string == "Thesis.docx" })
        #expect(file.isBackedUp)
    }

    @Test func eachCommandIsBelowItsFinding() throws {
        try write("log", to: "Documents/Logs/app.log")
        let root = container.root.path
        try write(#"{"last":"\#(root)/x"}"#, to: "Library/Application Support/a.json")
        let lines = [
            "", "# Library/Application Support/a.json: its content contains an absolute path [absolute-path]",
            "# By hand: Store the area and the path below it.", "",
            "# Documents/Logs/app.log: it is a log [log-among-documents]",
            "move '\(root)/Documents/Logs/app.log' '\(root)/Library/Caches/Logs/app.log'",
            "remove_empty '\(root)/Documents/Logs'", "", "exit $status", "",
        ]
        let script = try script()
        #expect(script.hasSuffix(lines.joined(separator: "\n")), "\(script)")
    }

    /// A mark on a folder of Library that could be one of the system's would be the next finding.
    @Test func aCacheWhoseNameMayNotBeMarkedMoves() throws {
        for name in ["1", "2"] { try write(name, to: "Library/Application Support/Cache/\(name).bin") }
        #expect(try found() == ["cached-data-backed-up"])
        #expect(try run(script()))
        #expect(try found() == [])
        #expect(try Data(contentsOf: container.url("Library/Caches/Cache/2.bin")) == Data("2".utf8))
    }

    /// A mark on a folder is one on all that is in it.
    @Test func aFolderIsNotMarkedForSomeOfItsFiles() throws {
        let folder = "Library/Application Support/org.example.app/Voices"
        for name in ["1", "2", "3", "4"] { try write(to: "\(folder)/\(name)", isMarked: true) }
        try write("mine", to: "\(folder)/deep/own.bin")
        #expect(try script().contains("# By hand: "))
    }

    @Test(arguments: [
        "a b.log", "it's.log", "$(touch x).log", "`touch x`.log", "-n.log", "new\nline.log", "\"quoted\".log",
        "é✈.log", "*.log", "\\.log",
    ])
    func anyNameIsOneWord(_ name: String) throws {
        try write(name, to: "Documents/\(name)")
        #expect(try run(script()))
        #expect(try Data(contentsOf: container.url("Library/Caches/\(name)")) == Data(name.utf8))
        #expect(try found() == [])
    }

    /// It is in the comment above the command, too.
    @Test func aNameIsNoLineOfTheScript() throws {
        try write("log", to: "Documents/x\ntouch $discarded.run #.log")
        #expect(try run(script()))
        #expect(!FileManager.default.fileExists(atPath: work.path.appending("discarded.run").string))
    }

    /// By the time that it is run, there may be something.
    @Test func nothingIsReplaced() throws {
        try write("new", to: "Documents/debug.log")
        let script = try script()
        try write("old", to: "Library/Caches/debug.log")
        #expect(try !run(script))
        #expect(try Data(contentsOf: container.url("Library/Caches/debug.log")) == Data("old".utf8))
        #expect(try Data(contentsOf: container.url("Documents/debug.log")) == Data("new".utf8))
    }

    /// A link among the folders could lead anywhere.
    @Test func noLinkIsFollowed() throws {
        try write("log", to: "Documents/Logs/app.log")
        try FileManager.default.createSymbolicLink(
            atPath: container.url("Library/Caches/Logs").path, withDestinationPath: work.path.string)
        #expect(try script().contains("# left Documents/Logs/app.log: "))
    }
}

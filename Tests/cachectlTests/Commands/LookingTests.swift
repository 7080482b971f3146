import Foundation
import Testing

@testable import cachectl

/// Commands that only look, on a container with no cache in it: they make none.
@Suite struct LookingTests {
    let container: Container

    init() throws {
        container = try Container(hasCache: false)
        let downloads = container.root.appending(path: "Documents/Downloads")
        try FileManager.default.createDirectory(at: downloads, withIntermediateDirectories: true)
        try text.write(to: downloads.appending(path: "a.txt"))
        try FileManager.default.createDirectory(
            at: container.root.appending(path: "Library/Caches"), withIntermediateDirectories: true)
    }

    /// Names, kinds, times of any change and contents of all that is there.
    private func photograph() throws -> String {
        try container.shell(
            #"cd "$CONTAINER" && find . -printf '%p %y %s %m %i %T@ %C@\n' | sort; "#
                + #"find . -type f -exec cksum {} + | sort"#
        ).text
    }

    private func run(_ arguments: [String]) throws -> Tool.Outcome {
        try Tool.run(Tool.path, arguments + ["--container", container.root.path], in: container.folder)
    }

    private var downloads: String { container.root.appending(path: "Documents/Downloads").path }

    /// What needs a cache, and what it prints where the cache is empty.
    private static let looks: [([String], String)] = [
        (["verify"], "verified  0 items, 1 opened file"),
        (["verify", "--sample", "3"], "verified  0 items"),
        (["repair", "--dry-run"], "nothing to repair"),
        (["evict", "--all", "--dry-run"], "nothing would be evicted"),
        (["evict", "--to-bytes", "0", "--dry-run"], "nothing would be evicted"),
        (["purge", "--excluded", "--older-than", "1d", "--dry-run"], "nothing to purge"),
    ]

    @Test(
        arguments: looks.map(\.0) + [
            ["list"], ["list", "--partials"], ["show", "k"], ["cat", "k"], ["open", "k"], ["forget", "k"],
            ["evict", "--all"], ["trim"], ["capacity"], ["configure"], ["stats"], ["stats", "--json"],
            ["purge", "--excluded", "--older-than", "1d"], ["repair"], ["verify", "--repair"],
            ["report", "--html", "-"], ["watch", "--count", "1"],
        ])
    func aMissingCacheIsAnError(_ arguments: [String]) throws {
        let before = try photograph()
        let outcome = try run(arguments)
        #expect(outcome.status == 66)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("there is no cache in \(container.root.path)/Library/Caches"))
        #expect(try photograph() == before)
    }

    /// A mistake must not create what the next command would then find.
    @Test(arguments: [
        (["put", "k", "nowhere"], 66), (["put", "k", "/dev"], 66), (["fetch", "not a url"], 64),
        (["fetch", "--from-file", "nowhere"], 66), (["migrate", "--from", "nowhere", "--as", "cached"], 66),
    ])
    func aMistakeCreatesNoCache(_ arguments: [String], _ code: Int) throws {
        let before = try photograph()
        #expect(try Int(run(arguments).status) == code)
        #expect(try photograph() == before)
    }

    @Test(
        arguments: [
            (["migrate", "--as", "documents", "--dry-run"], "would be moved a.txt → Documents/a.txt"),
            (["migrate", "--as", "support", "--dry-run"], "would be moved a.txt → Library/"),
            (
                ["migrate", "--as", "cached", "--dry-run"],
                "would be stored a.txt → Library/Caches/PrefetchCache/"
            ),
        ])
    func nothingIsChanged(_ arguments: [String], _ said: String) throws {
        let before = try photograph()
        #expect(before.contains("a.txt"))
        let outcome = try run(arguments + ["--from", downloads])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.contains(said), "\(outcome.text)")
        #expect(try photograph() == before)
    }

    /// The system has purged Caches: what was opened is known all the same.
    @Test(arguments: looks)
    func halfACacheIsLookedAtAndNotMadeWhole(_ arguments: [String], _ said: String) throws {
        try container.succeed("put", "k", "-", "--to", "documents", input: text)
        try container.succeed("open", "k")
        try FileManager.default.removeItem(at: container.root.appending(path: "Library/Caches/PrefetchCache"))
        #expect(try run(arguments).text.contains(said))
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: container.root.appending(path: "Library/Caches").path) == ["CACHEDIR.TAG"])
    }

    @Test(arguments: [
        ("Caches", "without items; what was opened is still known"),
        ("Application Support", "and what was opened is not known any more"),
    ])
    func aFolderThatIsMadeAgainIsAnnounced(_ area: String, _ consequence: String) throws {
        let container = try Container()
        try container.succeed("put", "k", "-", input: text)
        let root = container.root.appending(path: "Library/\(area)/PrefetchCache")
        try FileManager.default.removeItem(at: root)

        #expect(try container.cachectl("verify").errors == "")
        #expect(!FileManager.default.fileExists(atPath: root.path))
        #expect(try container.cachectl("list").errors == "")
        #expect(!FileManager.default.fileExists(atPath: root.path))
        let outcome = try container.cachectl("trim")
        #expect(outcome.status == 0)
        #expect(outcome.errors.hasPrefix("cachectl: warning: the cache's folder in "))
        #expect(outcome.errors.hasSuffix(" is gone, and made again: \(consequence)\n"))
        #expect(try container.cachectl("trim").errors == "")
    }

    @Test func aDryRunOfEvictSettlesNothing() throws {
        try container.succeed("put", "k", "-", "--to", "documents", input: text)
        try container.succeed("open", "k")
        let staging = container.root.appending(path: "Library/Application Support/PrefetchCache/staging")
        let left = staging.appending(path: "0123456789abcdef0123456789abcdef-0123456789abcdef-1")
        try text.write(to: left)
        try container.succeed("evict", "--all", "--dry-run")
        #expect(FileManager.default.fileExists(atPath: left.path))
        try container.succeed("list")
        #expect(FileManager.default.fileExists(atPath: left.path))
        try container.succeed("trim")
        #expect(
            !FileManager.default.fileExists(atPath: left.path), "and otherwise it would have been removed")
    }

    @Test func theTemporaryFoldersAreRemoved() throws {
        let temporary = container.folder.url.appending(path: "temporary")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        let outcome = try Tool.run(
            Tool.path,
            [
                "migrate", "--from", downloads, "--as", "cached", "--dry-run", "--container",
                container.root.path,
            ],
            environment: ["TMPDIR": temporary.path], in: container.folder)
        #expect(outcome.status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
    }

    @Test(arguments: [["--from", "x"], ["--as", "cached"], ["--source", "s"], ["--backup", "exclude"]])
    func migrateNeedsBothOrNeither(_ arguments: [String]) throws {
        #expect(try run(["migrate"] + arguments).status == 64)
    }
}

import Foundation
import Testing

@testable import cachectl

/// Commands that only look, on a container with no cache in it: they make none.
@Suite struct LookingTests {
    let container: Container

    init() throws {
        container = try Container(hasCache: false)
        try container.write(String(decoding: text, as: UTF8.self), to: "Documents/Downloads/a.txt")
        try FileManager.default.createDirectory(
            at: container.root.appending(path: "Library/Caches"), withIntermediateDirectories: true)
    }

    private var downloads: String { container.root.appending(path: "Documents/Downloads").path }

    /// What needs a cache, and what it prints where the cache is empty.
    private static let looks = [
        ("verify", "verified  0 items, 1 opened file"), ("verify --sample 3", "verified  0 items"),
        ("repair --dry-run", "nothing to repair"), ("evict --all --dry-run", "nothing would be evicted"),
        ("evict --to-bytes 0 --dry-run", "nothing would be evicted"),
        ("purge --excluded --older-than 1d --dry-run", "nothing to purge"),
    ]

    @Test func aMissingCacheIsAnError() async throws {
        let before = try container.photograph()
        for command in Self.looks.map(\.0) + [
            "list", "list --partials", "show k", "cat k", "open k", "forget k", "evict --all", "trim",
            "capacity",
            "configure", "stats", "stats --json", "purge --excluded --older-than 1d", "repair",
            "verify --repair", "report", "watch --count 1",
        ] {
            let outcome = try await container.cachectl(command.split(separator: " ").map(String.init))
            #expect(outcome.status == 66 && outcome.output.isEmpty, "\(command)")
            #expect(outcome.errors.contains("there is no cache in \(container.root.path)/Library/Caches"))
        }
        #expect(try container.photograph() == before)
    }

    /// A mistake must not create what the next command would then find.
    @Test func aMistakeCreatesNoCache() async throws {
        let before = try container.photograph()
        for (command, code) in [
            ("put k /nowhere", 66), ("put k /dev", 66), ("put k - --priority 2", 64), ("fetch not-a-url", 64),
            ("fetch --from-file /nowhere", 66), ("migrate --from /nowhere --as cached", 66),
            ("configure --budget 1GiB --cap 2GiB", 64), ("put k - --requested --expires 7d", 64),
        ] {
            let outcome = try await container.cachectl(command.split(separator: " ").map(String.init))
            #expect(Int(outcome.status) == code, "\(command)")
            #expect(outcome.output.isEmpty && outcome.errors.split(separator: "\n").count == 1)
        }
        #expect(try container.photograph() == before)
    }

    /// The system has purged Caches: what was opened is known all the same.
    @Test func halfACacheIsLookedAtAndNotMadeWhole() async throws {
        try await container.succeed("put", "k", "-", "--to", "documents", input: text)
        try await container.succeed("open", "k")
        try FileManager.default.removeItem(at: container.root.appending(path: "Library/Caches/PrefetchCache"))
        for (command, said) in Self.looks {
            let outcome = try await container.cachectl(command.split(separator: " ").map(String.init))
            #expect(outcome.text.contains(said), "\(command)")
        }
        let caches = container.root.appending(path: "Library/Caches").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: caches) == ["CACHEDIR.TAG"])
    }

    @Test(arguments: [
        ("Caches", "without items; what was opened is still known"),
        ("Application Support", "and what was opened is not known any more"),
    ])
    func aFolderThatIsMadeAgainIsAnnounced(_ area: String, _ consequence: String) async throws {
        let container = try Container()
        try await container.succeed("put", "k", "-", input: text)
        let root = container.root.appending(path: "Library/\(area)/PrefetchCache")
        try FileManager.default.removeItem(at: root)
        for command in ["verify", "list"] {
            #expect(try await container.cachectl(command).errors == "")
            #expect(!FileManager.default.fileExists(atPath: root.path))
        }
        let outcome = try await container.cachectl("trim")
        #expect(outcome.status == 0)
        #expect(outcome.errors.hasPrefix("cachectl: warning: the cache's folder in "))
        #expect(outcome.errors.hasSuffix(" is gone, and made again: \(consequence)\n"))
        #expect(try await container.cachectl("trim").errors == "")
    }

    @Test func theTemporaryFoldersAreRemoved() throws {
        let outcome = try container.shell(
            #"""
            mkdir temporary; export TMPDIR="$PWD/temporary"
            "$CACHECTL" migrate --from "$CONTAINER/Documents/Downloads" --as cached --dry-run --container "$CONTAINER"
            ls -A temporary
            """#)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.text.split(separator: "\n").last?.hasSuffix("would be imported, 0 left") == true)
    }
}

import Foundation
import Testing

@testable import cachectl

extension Container {
    /// Names, kinds and times of all that is there.
    ///
    /// - Parameter format: More that is printed, such as the time of the last access.
    func photograph(_ format: String = "") throws -> String {
        try shell(
            #"cd "$CONTAINER" && find . -printf '%p %y %s %m %i %n %U %T@ %C@ \#(format)\n' | sort"#
        ).text
    }
}

/// No command that only looks changes a byte or a time of a container, or needs to be able to.
@Suite struct LookingWritesNothingTests {
    let container: Container

    /// All commands that only look, but for those that need a terminal.
    static let looks = [
        "list", "list --opened", "list --partials", "list --json", "show cached", "show opened", "stats",
        "stats --by source", "events", "capacity", "configure",
        "inventory", "inventory --check", "inventory --files", "verify", "report",
        "show Documents/opened",
        "repair --dry-run",
        "evict --all --dry-run", "evict cached --dry-run",
        "migrate --from $CONTAINER/Documents --as documents --dry-run",
        "migrate --from $CONTAINER/Documents --as cached --dry-run",
        "purge --excluded --older-than 1d --dry-run", "fetch --missing --dry-run", "watch --count 1 --json",
    ]

    init() async throws {
        container = try Container()
        for key in ["cached", "opened", "damaged"] {
            try await container.succeed(
                "put", key, "-", "--to", "documents", "--name", key, input: text + Data(key.utf8))
        }
        try await container.succeed("open", "opened")
        // A crash left these: an emptied item, and something staged.
        _ = try container.shell(
            #"cd "$CONTAINER/Library" && f=$(ls -S Caches/PrefetchCache/items/*/* | head -1) && : >"$f" && "#
                + #"echo x >"Application Support/PrefetchCache/staging/"#
                + #"0123456789abcdef0123456789abcdef-0123456789abcdef-1""#)
    }

    /// Expects that commands succeed and change nothing.
    private func expectNoChange(by looks: [String], _ state: String = "") async throws {
        // Access times are noted at most once a day, and not of what was read since it was written.
        _ = try container.shell(#"find "$CONTAINER" -exec touch -a -d 2020-01-01 {} +"#)
        // Looking at a folder reads it.
        _ = try container.photograph()
        let before = try container.photograph("%A@")
        for look in looks {
            let words = look.replacing("$CONTAINER", with: container.root.path).split(separator: " ")
            let outcome = try await container.cachectl(words.map(String.init))
            let isFinding = look == "inventory --check" && outcome.status == 1
            #expect(outcome.status == 0 || isFinding, "\(look) \(state): \(outcome.errors)")
            #expect(try container.photograph("%A@") == before, "\(look) \(state)")
        }
    }

    @Test func everyByteAndTimeStays() async throws { try await expectNoChange(by: Self.looks) }

    @Test func whatIsMissingIsNotMade() async throws {
        for path in ["Caches/PrefetchCache/catalog.sqlite", "Caches/PrefetchCache", "Caches"] {
            try FileManager.default.removeItem(at: container.root.appending(path: "Library/\(path)"))
            let looks = Self.looks.filter { !$0.contains(" cached") || $0.hasPrefix("migrate") }
            try await expectNoChange(by: looks, "without \(path)")
        }
    }

    private static let isRoot = getuid() == 0

    @Test(.enabled(if: isRoot, "Mounting needs root.")) func aReadOnlyMountSuffices() throws {
        let script = Self.looks.map { look in
            #"""
            "$CACHECTL" \#(look) --container "$CONTAINER" >out 2>err; rc=$?
            [ $rc = 0 ] || { [ '\#(look)' = 'inventory --check' ] && [ $rc = 1 ]; } || echo '\#(look)': $rc "$(cat err)"
            """#
        }.joined(separator: "\n")
        let file = try container.folder.write(Data(script.utf8), to: "looks.sh")
        let outcome = try container.shell(
            #"unshare -m sh -c 'mount --bind "$CONTAINER" "$CONTAINER" && "#
                + #"mount -o remount,bind,ro "$CONTAINER" && exec sh "$0"' '\#(file.path)'"#)
        #expect(outcome.text == "")
        #expect(outcome.errors == "")
    }
}

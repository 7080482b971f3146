import FileSystemTestSupport
import Foundation
import Testing

@testable import cachectl

/// Every command where a process may do little: with few descriptors, short files, closed streams, one thread, or on a volume
/// without a free byte or name. Each ends soon, by itself, with a documented code and, if it failed, a line that says why;
/// what the user has opened stays, and the cache is sound afterwards.
@Suite struct SmallLimitsTests {
    private let container: Container
    private static let hasExt4 =
        SmallVolume.isPossible
        && ["/usr/sbin/mkfs.ext4", "/dev/loop-control"].allSatisfy(FileManager.default.fileExists(atPath:))

    /// What changes something, beside what only looks.
    private static let changes = [
        "put new FILE --to documents", "put piped -", "open cached", "open opened", "cat cached",
        "forget opened",
        "evict --bytes 1", "evict cached", "trim", "repair", "verify --repair", "configure --cap 1GB",
        "purge --excluded --older-than 1d", "fetch http://127.0.0.1:1/x --tries 1",
        "migrate --from WORK/old --as cached",
    ]

    private static let commands = TestRun.sample(12, of: LookingWritesNothingTests.looks + changes)

    init() async throws {
        container = try Container()
        for key in ["cached", "opened", "other"] {
            try await container.succeed(
                "put", key, "-", "--to", "documents", "--name", key,
                input: noise(70_000, seed: UInt64(key.count)))
        }
        try await container.succeed("open", "opened")
        try container.folder.write(noise(70_000, seed: 99), to: "FILE")
    }

    /// Shell that looks how a command has ended, by `$code`, `errors` and what the user has opened.
    private static func verdict(on command: String, in work: String) -> String {
        #"""
        case $code in 0|1|64|65|66|69|70|71|73|74|75|77) ;; *) echo "\#(command): code $code" ;; esac
        [ $code -le 1 ] || [ -s errors ] || [ "${limit#*2>&-}" != "$limit" ] || echo "\#(command): no reason"
        cmp -s \#(work)/Documents/opened "$CONTAINER/Documents/opened" || echo "\#(command): opened is gone"
        """#
    }

    /// Runs each command on a copy of the container.
    ///
    /// - Parameters:
    ///   - limit: Shell that comes before the command.
    ///   - fill: Shell that comes before that, and what undoes it.
    private func faults(_ limit: String, in work: String = "work", _ fill: (String, String) = ("", ""))
        throws -> String
    {
        let script = Self.commands.map { command in
            let command = command.replacing("$CONTAINER", with: work).replacing("WORK", with: work)
            return #"""
                rm -rf \#(work)/* 2>/dev/null; mkdir -p \#(work)/old; cp -a "$CONTAINER/." \#(work)
                cp FILE \#(work)/old; \#(fill.0)
                { (\#(limit); exec timeout 60 "$CACHECTL" \#(command) --container \#(work) </dev/null >/dev/null)
                  echo $? >code; } 2>&1 | cat >errors
                code=$(cat code); \#(fill.1)
                \#(Self.verdict(on: command, in: work))
                "$CACHECTL" verify --container \#(work) >verified 2>&1 || { echo "\#(command):"; cat verified; }
                """#
        }.joined(separator: "\n")
        let file = try container.folder.write(
            Data("limit='\(limit)'\nexport FILE=FILE\n\(script)".utf8), to: "limits.sh")
        let outcome = try container.shell(
            "cd '\(container.folder.url.path)' && sh limits.sh; rm -f \(file.path)")
        return outcome.text + outcome.errors
    }

    /// Few descriptors, short files, and closed streams. Below 20 descriptors Dispatch itself gives up when it finds none.
    @Test(arguments: [
        ["ulimit -n 24", "ulimit -n 40"], ["ulimit -f 0", "ulimit -f 1", "ulimit -f 64"],
        ["exec <&-", "exec >&-", "exec 2>&-", "exec <&- >&- 2>&-"],
    ])
    func whatAShellAllowsSuffices(_ limits: [String]) throws {
        for limit in limits {
            let found = try faults(limit)
            #expect(found == "", "\(limit)")
        }
    }

    /// What another user runs needs no thread but its first.
    @Test(.enabled(if: SmallVolume.isPossible, "Only root can become somebody else."))
    func oneThreadSuffices() throws {
        let user = "setpriv --reuid 54321 --clear-groups"
        let script = Self.commands.filter { !$0.hasPrefix("migrate") }.map { command in
            #"""
            rm -rf work; cp -a "$CONTAINER" work; chown -R 54321 work
            timeout 60 \#(user) sh -c 'ulimit -u 1; exec ./tool \#(command) --container work' </dev/null >/dev/null 2>errors
            code=$?
            \#(Self.verdict(on: command, in: "work"))
            """#
        }.joined(separator: "\n")
        let file = try container.folder.write(Data(script.utf8), to: "limits.sh")
        let outcome = try container.shell(
            "cd '\(container.folder.url.path)' && chmod 755 . && cp \"$CACHECTL\" tool && chmod 755 tool FILE && sh '\(file.path)'"
        )
        #expect(outcome.text + outcome.errors == "")
    }

    /// With blocks of 4 KiB: SQLite does not survive a full volume of smaller ones.
    @Test(
        .enabled(if: hasExt4, "A volume of its own needs root on Linux, mkfs.ext4 and a loop device."),
        arguments: [
            ("bytes", "cat /dev/zero >volume/fill 2>/dev/null; cat /dev/zero >volume/fill2 2>/dev/null"),
            ("names", "i=0; while :>volume/fill$i; do i=$((i+1)); done 2>/dev/null"),
        ])
    func aVolumeMayBeFull(_ kind: String, _ fill: String) throws {
        let mounted = try container.shell(
            "cd '\(container.folder.url.path)' && truncate -s 24M image && /usr/sbin/mkfs.ext4 -q -F -b 4096 -N 160 image && "
                + "mkdir volume && mount -o loop image volume")
        try #require(mounted.errors == "")
        let found = Result { try faults(":", in: "volume/work", (fill, "rm -f volume/fill*")) }
        let unmounted = try container.shell("umount '\(container.folder.url.path)/volume'")
        #expect(unmounted.errors == "")
        let text = try found.get()
        #expect(text == "")
    }
}

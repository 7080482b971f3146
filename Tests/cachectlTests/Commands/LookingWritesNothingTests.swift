import Foundation
import Testing

@testable import cachectl

/// No command that only looks changes a byte or a time of a container, or needs to be able to.
@Suite struct LookingWritesNothingTests {
    let container: Container

    /// All commands that only look, but for those that need a terminal.
    static let looks = [
        "list", "list --opened", "list --partials", "list --json", "show cached", "show opened", "stats",
        "stats --by source", "stats --openmetrics", "events", "capacity", "configure",
        "inventory", "inventory --check", "inventory --files", "verify", "report --html -",
        "show Documents/opened",
        "repair --dry-run",
        "evict --all --dry-run", "evict cached --dry-run",
        "migrate --from $CONTAINER/Documents --as documents --dry-run",
        "migrate --from $CONTAINER/Documents --as cached --dry-run",
        "purge --excluded --older-than 1d --dry-run", "fetch --missing --dry-run", "watch --count 1 --json",
    ]

    init() throws {
        container = try Container()
        for key in ["cached", "opened", "damaged"] {
            try container.succeed(
                "put", key, "-", "--to", "documents", "--name", key, input: text + Data(key.utf8))
        }
        try container.succeed("open", "opened")
        // A crash left these: an emptied item, and something staged.
        _ = try container.shell(
            #"cd "$CONTAINER/Library" && f=$(ls -S Caches/PrefetchCache/items/*/* | head -1) && : >"$f" && "#
                + #"echo x >"Application Support/PrefetchCache/staging/"#
                + #"0123456789abcdef0123456789abcdef-0123456789abcdef-1""#)
    }

    private static let photograph =
        #"(cd "$CONTAINER" && find . -printf '%p %y %s %m %i %n %U %T@ %C@ %A@\n' | sort)"#

    /// Runs each command, and prints those around which something changed or that failed.
    private func changes(_ looks: [String], _ prefix: String = "") throws -> String {
        let runs = looks.map { look in
            #"""
            before=$( \#(Self.photograph) ); \#(prefix) "$CACHECTL" \#(look) --container "$CONTAINER" >out 2>err; rc=$?
            [ $rc = 0 ] || { [ '\#(look)' = 'inventory --check' ] && [ $rc = 1 ]; } || echo '\#(look)': $rc "$(cat err)"
            after=$( \#(Self.photograph) ); [ "$before" = "$after" ] || echo '\#(look)': changed
            """#
        }
        // Access times are noted at most once a day, and not of what was read since it was written.
        let outcome = try container.shell(
            #"find "$CONTAINER" -exec touch -a -d 2020-01-01 {} + ; "# + Self.photograph + ">/dev/null\n"
                + runs.joined(separator: "\n")
        )
        return outcome.text + outcome.errors
    }

    @Test func everyByteAndTimeStays() throws {
        #expect(try changes(Self.looks) == "")
    }

    @Test func whatIsMissingIsNotMade() throws {
        for path in ["Caches/PrefetchCache/catalog.sqlite", "Caches/PrefetchCache", "Caches"] {
            try FileManager.default.removeItem(at: container.root.appending(path: "Library/\(path)"))
            let looks = Self.looks.filter { !$0.contains(" cached") || $0.hasPrefix("migrate") }
            #expect(try changes(looks) == "", "\(path)")
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

    /// The calls on files that a command which looks may make, whatever it makes them on.
    private static let harmless: Set = [
        "access", "close", "dup", "dup2", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait",
        "eventfd2",
        "execve", "faccessat", "faccessat2", "fcntl", "fgetxattr", "flistxattr", "flock", "fstat", "fstatfs",
        "getcwd", "getdents64", "ioctl", "lseek", "lstat", "mmap", "newfstatat", "open", "openat", "openat2",
        "pipe2", "poll", "ppoll", "pread64", "preadv2", "read", "readlink", "readlinkat", "readv",
        "signalfd4",
        "stat", "statfs", "statx", "timerfd_create", "timerfd_settime", "write", "writev",
    ]

    private static let canTrace: Bool = {
        let trace = Process()
        trace.executableURL = URL(filePath: "/usr/bin/strace")
        trace.arguments = ["-o", "/dev/null", "true"]
        trace.standardError = FileHandle.nullDevice
        do { try trace.run() } catch { return false }
        trace.waitUntilExit()
        return trace.terminationStatus == 0
    }()

    @Test(.enabled(if: canTrace, "There is no strace, or ptrace is not permitted."))
    func onlyHarmlessCallsAreMade() throws {
        for look in Self.looks {
            let outcome = try container.shell(
                #"strace -f -qq -o calls -e trace=%file,%desc "$CACHECTL" \#(look) --container "$CONTAINER" "#
                    + #">/dev/null; cat calls"#)
            for line in outcome.text.split(separator: "\n") {
                let call = line.drop { $0.isNumber || $0 == " " }
                // The rest of a call of another thread, and signals.
                guard let name = call.split(separator: "(").first, !call.hasPrefix("<"), !call.hasPrefix("-"),
                    !call.hasPrefix("+"), !call.hasPrefix("?")
                else { continue }
                #expect(Self.harmless.contains(String(name)), "\(look): \(call)")
                guard call.contains("O_WRONLY") || call.contains("O_RDWR") || call.contains("O_CREAT") else {
                    continue
                }
                #expect(call.contains("\"/dev/"), "\(look): \(call)")
            }
            #expect(!outcome.text.isEmpty)
        }
    }
}

internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem

struct Events: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Lists what happened to which item, and why.",
        discussion: """
            The journal of all processes that use the cache: what was stored, opened, read and missed, what left and \
            what was refused, each with its reason. What was evicted is part of what left. It holds the last 512 KiB to 1 MiB, some thousands of events. A \
            process notes what it does about a second later; one that is killed takes that second along.

            Times are those of UTC, sizes those of the content. --json prints one object per line.

            EXAMPLES:
              # What happened in the last two hours
              cachectl events --since 2h --app org.example.app
              # Why is an item gone?
              cachectl events --key https://feeds.example.org/1.mp3 --app org.example.app
              # What is evicted and refused, and then as it happens
              cachectl events --kind evicted,refused --follow --container ./AppData
            """)

    @Option("Only events of the last 30m, 2h or 7d.", "duration", parse: Lifetime.init(_:))
    var since: Lifetime?

    @Option(help: ArgumentHelp("Only events of this key.", valueName: "key"), transform: String.parse)
    var key: String?

    @Option(
        help: ArgumentHelp("Only events of items from this source.", valueName: "source"),
        transform: String.parse)
    var source: String?

    @Option(
        help: ArgumentHelp(
            "Only events of these kinds: \(Selection.names.joined(separator: ", ")).", valueName: "kinds"),
        transform: Selection.init(_:))
    var kind: Selection?

    @Flag(help: "Print further events as they happen, until a signal arrives or the reader ends.")
    var follow = false

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    var handlesSignals: Bool { follow }

    /// How often the journal is looked at. Other processes write it about once a second.
    private static let interval = Duration.milliseconds(500)

    /// The kinds that `--kind` names, of which `evicted` is a part of another one.
    struct Selection {
        private static let evicted = "evicted"
        static let names = JournalEntry.Kind.allCases.map(\.rawValue) + [evicted]
        private let chosen: Set<String>

        init(_ text: String) throws(KindError) {
            let chosen = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            if let name = chosen.first(where: { !Self.names.contains($0) }) { throw KindError(name: name) }
            self.chosen = Set(chosen)
        }

        func contains(_ entry: JournalEntry) -> Bool {
            chosen.contains(entry.kind.rawValue)
                || chosen.contains(Self.evicted) && entry.departure?.isEviction == true
        }
    }

    struct KindError: Error, CustomStringConvertible {
        let name: String

        var description: String {
            "there are no events '\(name.escapedForTerminal)'; there are "
                + Selection.names.joined(separator: ", ")
        }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        output.stopsOnBrokenPipe = true
        let pause = follow ? try Pause(nil) : nil
        let first = since.map { $0.start(before: Timestamp.now) }
        var position: JournalPosition?
        var isNamed = false
        while true {
            let news = try await cache.journal(after: position)
            for entry in news.entries where isWanted(entry, since: first) {
                isNamed = true
                try print(entry, to: output)
            }
            if position != nil, !news.isComplete {
                StandardStreams.writeError(
                    "cachectl: warning: events were dropped from the journal before they could be read")
            }
            position = news.end
            guard let pause else {
                if let key, !isNamed { StandardStreams.writeError("cachectl: no event names '\(key)'") }
                return
            }
            try output.flush()
            switch pause.wait(for: Self.interval) {
            case .due: break
            case .end: return
            case .signal(let number): throw CommandFailure(.ended(by: number), nil)
            }
        }
    }

    private func isWanted(_ entry: JournalEntry, since first: Int64?) -> Bool {
        if let first, entry.time < first { return false }
        if let key, entry.key != JournalEntry.kept(key) { return false }
        if let source, !entry.source.utf8.elementsEqual(JournalEntry.kept(source).utf8) { return false }
        return kind?.contains(entry) ?? true
    }

    private func print(_ entry: JournalEntry, to output: Output) throws {
        if output.isJSON {
            try output.print(json: entry.json, isPretty: false)
        } else {
            try output.print(entry.line)
        }
    }
}

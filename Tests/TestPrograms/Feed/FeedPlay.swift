internal import FileSystemTestSupport
internal import Foundation
internal import Synchronization

/// The two processes, from their first start to their end, and the kills in between.
final class FeedPlay {
    let container: URL
    let history = History()
    private let publisher: Publisher
    private let notes: Notebook
    private let isBroken: Bool
    private var generator: SeededGenerator
    private var daemons: [Child] = []
    private let found = FoundPaths()

    /// Where each key was found when it was opened.
    var paths: [String: Set<String>] { found.paths.withLock { $0 } }

    private final class FoundPaths: Sendable {
        let paths = Mutex<[String: Set<String>]>([:])
    }

    init(_ publisher: Publisher, _ container: URL, _ notes: Notebook, seed: UInt64, isBroken: Bool) {
        self.publisher = publisher
        self.container = container
        self.notes = notes
        self.isBroken = isBroken
        generator = SeededGenerator(seed: seed)
    }

    func run(rounds: Int) async throws {
        daemons = [try daemon(0), try daemon(1)]
        for number in 1...rounds {
            let round = try publisher.round(number, using: &generator)
            for daemon in daemons { daemon.tell(round.line) }
            // One, the other, or both; in the last round nobody.
            let victims = number == rounds ? [] : [[0, 1], [0], [1]][number % 3]
            if !victims.isEmpty { try await kill(victims, in: round) }
            for daemon in daemons where await !daemon.reaches("done \(number)") {
                notes.fault("end: a process ended in round \(number)")
            }
        }
        for daemon in daemons {
            daemon.tell("end")
            if await daemon.end() != 0 { notes.fault("end: a process did not end well") }
        }
    }

    private func kill(_ victims: [Int], in round: FeedRound) async throws {
        try await Task.sleep(for: .milliseconds(Int.random(in: 30...1500, using: &generator)))
        for victim in victims { daemons[victim].kill() }
        let time = ContinuousClock.now
        for victim in victims {
            if await daemons[victim].end() != nil { notes.fault("end: a process ended before it was killed") }
            history.killed(victim, at: time)
            daemons[victim] = try daemon(victim)
            daemons[victim].tell(round.line)
        }
    }

    private func daemon(_ half: Int) throws -> Child {
        var arguments = [
            "feed-daemon", "--container", container.path, "--server", publisher.server, "--half", "\(half)",
        ]
        if isBroken { arguments.append("--broken") }
        // As few descriptors as an app has elsewhere.
        return try Child(arguments, by: ["/bin/sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"]) {
            [notes, history, found] note in
            notes.add(note)
            history.add(note, by: half)
            if case .did("path", let text, _) = note, let space = text.firstIndex(of: " ") {
                let path = String(text[space...].dropFirst())
                found.paths.withLock { _ = $0[String(text[..<space]), default: []].insert(path) }
            }
        }
    }
}

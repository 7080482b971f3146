internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

struct Hammer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Stores, reads, opens and removes with 64 tasks, some of which are cancelled, and is killed again and again."
    )

    static let tasks = 64
    private static let kills = 3
    private static let limits = ["launch": 1.0, "read": 2, "close": 5, "others": 10]
    private static let (threads, descriptors) = (256, 512)

    @OptionGroup var options: ProgramOptions
    @Option(help: "For how many seconds each process goes on.")
    var seconds: Int?

    func run() async throws {
        var verdict = Verdict("hammer")
        try await Scratch.with(in: options.folder) { folder in
            let (notes, history) = (Notebook(isChild: false), History())
            // One that is not killed comes first: it counts exactly.
            try await hammer(folder, notes, history, isKilled: false)
            try await compare(folder, notes, history, &verdict)
            for _ in 0..<Self.kills { try await hammer(folder, notes, history, isKilled: true) }
            try await compare(folder, notes, history, &verdict)
            verdict.figure("\(notes.present["stored"]) stored, \(history.kills) kills")
            verdict.judge(
                notes.present, limits: Self.limits, threads: Self.threads, descriptors: Self.descriptors)
        }
        try verdict.end()
    }

    private func hammer(
        _ folder: URL, _ notes: Notebook, _ history: History, isKilled: Bool
    ) async throws {
        let seconds = seconds ?? (options.quick ? 3 : 20)
        var arguments = ["hammer-worker", "--container", folder.path, "--seconds", "\(seconds)"]
        if options.broken, !isKilled { arguments.append("--broken") }
        let worker = try Child(arguments) { note in
            notes.add(note)
            history.add(note, by: 0)
        }
        guard isKilled else {
            if await worker.end() != 0 { notes.fault("end: a process did not end well") }
            return history.ended(0)
        }
        guard await worker.reaches("hammering") else { return notes.fault("end: a process did not begin") }
        try await Task.sleep(for: .milliseconds(Int.random(in: 100...1000 * seconds)))
        worker.kill()
        let time = ContinuousClock.now
        _ = await worker.end()
        history.killed(0, at: time)
    }

    private func compare(
        _ folder: URL, _ notes: Notebook, _ history: History, _ verdict: inout Verdict
    ) async throws {
        let cache = try await PrefetchCache(areas: .container(at: folder))
        let statistics = try await cache.statistics()
        let listed = try await cache.items().count
        try await cache.close()
        let (done, lost, figures) = (notes.present, history.lost, statistics.figures)
        let unsaid = Self.tasks * history.kills
        func expect(_ name: String, _ metric: PrefetchFigures.Metric) {
            verdict.expect(name, figures[metric], counted: done[name], unsaid: unsaid, lost: lost[name] ?? 0)
        }
        expect("stored", .stored)
        expect("opened", .opened)
        expect("removed", .leftRemoved)
        expect("missed", .missed)
        // Reads of files that were opened are hits as well.
        verdict.expect(
            "reads and repeated opens", figures[.read] + figures[.reopened],
            counted: done["hit"] + done["opened again"], unsaid: unsaid,
            lost: (lost["hit"] ?? 0) + (lost["opened again"] ?? 0))
        // A killed process may have deleted a file and not its record, which goes when the key is stored again.
        verdict.expect(
            history.kills > 0 || done["found deleted"] == 0, "counts: files were deleted and not forgotten")
        // A killed process may have had no time to say why it took an item away.
        let unexplained = history.kills == 0 ? 0 : unsaid + (lost["removed"] ?? 0) + (lost["opened"] ?? 0)
        verdict.expect("purged", figures[.leftPurged], counted: 0, unsaid: unexplained)
        verdict.expect("evictions", statistics.evictions, counted: 0)

        let left = Departure.allCases.reduce(0) { $0 + figures[$1.items] }
        verdict.expect("stored and not left", figures[.stored] - left, counted: statistics.items)
        let disk = try OnDisk(folder.appending(path: "Library/Caches/PrefetchCache/items"))
        verdict.expect("items", Int64(statistics.items), counted: disk.files)
        verdict.expect("listed", Int64(listed), counted: disk.files)
        verdict.expect("charged bytes", statistics.chargedBytes, counted: Int(disk.charged))
    }
}

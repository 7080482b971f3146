import Contenders
import Foundation

/// Items that fit in memory: stored, read, some of them promoted, the rest evicted.
struct SmallSuite {
    let lineup: Lineup
    let turns: Turns
    /// Items per round.
    let items: Int
    /// How many of them are promoted, which is slow: it waits for the device. The rest are evicted.
    let promotions: Int
    /// What is reported. Storing comes before everything else, and is done in any case.
    let jobs: [Job]
    /// Of items, in KiB.
    let sizes: [Int]
    let materials: [Material]

    /// Bytes on the volume, for one round and for the folders that earlier ones leave behind.
    var neededBytes: Int {
        let content = items * ((sizes.max() ?? 0) << 10)
        let folders = materials.count * sizes.count * (turns.rounds + 1) * (4 << 20)
        // As stored, as promoted or logged, and as much again for what databases hold in reserve.
        return lineup.all.count * (3 * content + (4 << 20)) + folders
    }

    func run(text: TextCorpus) async throws -> SuiteResult {
        var comparisons: [Comparison] = []
        for material in materials {
            for size in sizes.map({ $0 << 10 }) {
                let workload =
                    switch material {
                    case .text: Workload(text: text, size: size, count: items)
                    case .incompressible: Workload(incompressibleOf: size, count: items)
                    }
                comparisons += try await compare(workload)
            }
        }
        return SuiteResult(
            suite: .small, comparisons: comparisons, setups: lineup.all.map { ($0.name, $0.setup) })
    }

    private func compare(_ workload: Workload) async throws -> [Comparison] {
        var samples: [Job: [[Double]]] = [:]
        for round in 0...turns.rounds {
            turns.progress.show(
                "\(workload.material) \(workload.size >> 10) KiB, round \(round) of \(turns.rounds)")
            let figures = try await self.round(round, lineup.all, workload)
            guard round > 0 else { continue }
            for (job, figures) in figures {
                samples[job, default: []].append(figures)
            }
        }
        return jobs.map { job in
            Comparison(
                suite: .small, job: job.rawValue, material: workload.material, size: workload.size,
                names: lineup.all.map(\.name), rounds: samples[job] ?? [])
        }
    }

    /// One round; per job the microseconds per item of each contender, in the order of `contenders`.
    private func round(
        _ round: Int, _ contenders: [any Contender], _ workload: Workload
    ) async throws -> [Job: [Double]] {
        let homes = try turns.makeHomes(contenders.count)
        for (contender, home) in zip(contenders, homes) {
            try await contender.prepare(in: home, for: workload)
        }
        var figures: [Job: [Double]] = [:]
        for job in Job.allCases where job == .store || jobs.contains(job) || round == 0 {
            figures[job] = try await turns.take(contenders.count, in: round) { index in
                let contender = contenders[index]
                let items = self.items(for: job, by: contender)
                let elapsed = try await withTaskExecutorPreference(contender.executor) {
                    try await contender.run(job, for: items, of: workload)
                }
                return elapsed / .microseconds(1) / Double(items.count)
            }
        }
        for contender in contenders {
            if round == 0 { try await verify(contender, workload) }
            try await contender.cleanup()
        }
        turns.empty(homes)
        return figures
    }

    /// The first items are promoted, the rest are evicted.
    private func items(for job: Job, by contender: any Contender) -> Range<Int> {
        let count = min(items, contender.maximumItems ?? items)
        let promoted = min(promotions, count / 2)
        return switch job {
        case .store, .read: 0..<count
        case .promote: 0..<promoted
        case .evict: promoted..<count
        }
    }

    private func verify(_ contender: any Contender, _ workload: Workload) async throws {
        for index in items(for: .promote, by: contender) {
            guard try Data(contentsOf: contender.promotedFile(index)) == Data(workload.contents[index]) else {
                throw WrongContent(contender: contender.name, item: index)
            }
        }
        for index in items(for: .evict, by: contender) {
            do {
                _ = try await contender.read(index)
            } catch {
                // As it should be.
                continue
            }
            throw NotEvicted(contender: contender.name, item: index)
        }
    }
}

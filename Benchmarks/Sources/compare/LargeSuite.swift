import Contenders
import Foundation

/// One large item: stored from a file, read, promoted. What does not compress is measured with 1 MiB, too: its
/// promotion should not depend on its size.
struct LargeSuite {
    let contenders: [any LargeContender]
    let turns: Turns
    /// Bytes of the item.
    let size: Int
    let materials: [Material]

    /// Bytes on the volume: the source, and for everybody the item as stored and as promoted.
    var neededBytes: Int { size * (1 + 2 * contenders.count) }

    func run(text: TextCorpus) async throws -> SuiteResult {
        var comparisons: [Comparison] = []
        for material in materials {
            for size in material == .incompressible ? [1 << 20, size] : [size] {
                let home = try turns.workspace.makeFolder()
                let file = try LargeFile(material, size: size, text: text, at: home.appending(path: "source"))
                comparisons += try await compare(file)
                turns.empty([home])
            }
        }
        return SuiteResult(
            suite: .large, comparisons: comparisons, setups: contenders.map { ($0.name, $0.setup) })
    }

    private func compare(_ file: LargeFile) async throws -> [Comparison] {
        var samples: [LargeJob: [[Double]]] = [:]
        for round in 0...turns.rounds {
            turns.progress.show("\(file.material) \(file.size >> 20) MiB, round \(round) of \(turns.rounds)")
            let homes = try turns.makeHomes(contenders.count)
            for (contender, home) in zip(contenders, homes) {
                try await contender.prepare(in: home, for: file)
            }
            for job in LargeJob.allCases {
                let figures = try await turns.take(contenders.count, in: round) { index in
                    let contender = contenders[index]
                    return try await withTaskExecutorPreference(contender.executor) {
                        try await contender.run(job)
                    } / .microseconds(1)
                }
                if round > 0 { samples[job, default: []].append(figures) }
            }
            for contender in contenders {
                if round == 0 { try verify(contender, file) }
                try await contender.cleanup()
            }
            turns.empty(homes)
        }
        return LargeJob.allCases.map { job in
            Comparison(
                suite: .large, job: job.rawValue, material: file.material, size: file.size,
                names: contenders.map(\.name), rounds: samples[job] ?? [])
        }
    }

    private func verify(_ contender: any LargeContender, _ file: LargeFile) throws {
        let promoted = try Data(contentsOf: contender.promotedFile, options: .alwaysMapped)
        guard promoted == (try Data(contentsOf: file.url, options: .alwaysMapped)) else {
            throw WrongContent(contender: contender.name, item: 0)
        }
    }
}

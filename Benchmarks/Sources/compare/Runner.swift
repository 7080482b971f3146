import Contenders
import Foundation

/// Runs contenders against each other so that a machine whose speed drifts hits them alike.
///
/// Within a round all contenders do one job before any does the next, and who goes first changes
/// from round to round. Before each turn the machine writes back what is dirty, so that nobody's
/// `fsync` pays for somebody else's data. A round that is not counted comes first: it warms up, and
/// every promoted file is compared with the original in it.
struct Runner {
    static let sizes = [4, 16, 64].map { $0 * 1024 }

    let lineup: Lineup
    let rounds: Int
    let workspace: Workspace
    let progress: ProgressLine

    /// Measures all jobs, materials and sizes.
    func compare(items: Int) async throws -> [Comparison] {
        let text = try TextCorpus()
        var comparisons: [Comparison] = []
        for material in Material.allCases {
            for size in Self.sizes {
                let workload =
                    switch material {
                    case .text: Workload(text: text, size: size, count: items)
                    case .incompressible: Workload(incompressibleOf: size, count: items)
                    }
                comparisons += try await compare(workload)
            }
        }
        progress.clear()
        return comparisons
    }

    private func compare(_ workload: Workload) async throws -> [Comparison] {
        let contenders = lineup.all
        let folder = try workspace.makeFolder()
        var samples: [Job: [[Double]]] = [:]
        for round in 0...rounds {
            progress.show("\(workload.material) \(workload.size / 1024) KiB, round \(round) of \(rounds)")
            let figures = try await self.round(round, contenders, workload, in: folder)
            guard round > 0 else { continue }
            for (job, figures) in figures {
                samples[job, default: []].append(figures)
            }
        }
        return Job.allCases.map { job in
            Comparison(job: job, workload: workload, lineup: lineup, rounds: samples[job] ?? [])
        }
    }

    /// One round; per job the microseconds per item of each contender, in the order of `contenders`.
    private func round(
        _ round: Int, _ contenders: [any Contender], _ workload: Workload, in folder: URL
    ) async throws -> [Job: [Double]] {
        let home = folder.appending(path: "round \(round)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: false)
        for contender in contenders {
            let home = home.appending(path: contender.name)
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: false)
            try await contender.prepare(in: home, for: workload)
        }
        var figures: [Job: [Double]] = [:]
        for job in Job.allCases {
            var turn = [Double](repeating: 0, count: contenders.count)
            for index in order(of: contenders.count, in: round) {
                sync()
                let contender = contenders[index]
                let elapsed = try await withTaskExecutorPreference(contender.executor) {
                    try await ContinuousClock().measure { try await job.run(contender, workload) }
                }
                turn[index] = elapsed / .microseconds(1) / Double(workload.contents.count)
            }
            figures[job] = turn
        }
        for contender in contenders {
            if round == 0 { try verify(contender, workload) }
            try await contender.cleanup()
        }
        workspace.empty(home)
        return figures
    }

    /// Forwards in one round and backwards in the next, each time beginning one further.
    private func order(of count: Int, in round: Int) -> [Int] {
        let rotated = (0..<count).map { ($0 + round / 2) % count }
        return round.isMultiple(of: 2) ? rotated : rotated.reversed()
    }

    private func verify(_ contender: any Contender, _ workload: Workload) throws {
        for (index, content) in workload.contents.enumerated() {
            guard try Data(contentsOf: contender.promotedFile(index)) == Data(content) else {
                throw WrongContent(contender: contender.name, item: index)
            }
        }
    }
}

import Contenders

/// Text of 16 KiB, stored and read by several tasks at once: how many items get done in a time.
struct TasksSuite {
    static let counts = [1, 2, 8]
    static let size = 16 << 10

    let contenders = tasksContenders()
    let turns: Turns
    /// Items per round, of which each task has its share.
    let items: Int

    /// Bytes on the volume, for one round and for the folders that earlier ones leave behind.
    var neededBytes: Int {
        contenders.count * items * 2 * Self.size + (turns.rounds + 1) * (16 << 20)
    }

    func run(text: TextCorpus) async throws -> SuiteResult {
        let workload = Workload(text: text, size: Self.size, count: items)
        var comparisons: [Comparison] = []
        for count in Self.counts {
            comparisons += try await compare(workload, tasks: count)
        }
        return SuiteResult(
            suite: .tasks, comparisons: comparisons, setups: contenders.map { ($0.name, $0.setup) })
    }

    private func compare(_ workload: Workload, tasks: Int) async throws -> [Comparison] {
        var samples: [TasksJob: [[Double]]] = [:]
        for round in 0...turns.rounds {
            turns.progress.show("\(tasks) tasks, round \(round) of \(turns.rounds)")
            let homes = try turns.makeHomes(contenders.count)
            for (contender, home) in zip(contenders, homes) {
                try await contender.prepare(in: home, for: workload, tasks: tasks)
            }
            for job in TasksJob.allCases {
                let figures = try await turns.take(contenders.count, in: round) { index in
                    let contender = contenders[index]
                    let elapsed = try await withTaskExecutorPreference(contender.executor) {
                        try await ContinuousClock().measure { try await contender.run(job) }
                    }
                    return elapsed / .microseconds(1) / Double(items)
                }
                if round > 0 { samples[job, default: []].append(figures) }
            }
            for contender in contenders { try await contender.cleanup() }
            turns.empty(homes)
        }
        return TasksJob.allCases.map { job in
            Comparison(
                suite: .tasks, job: job.rawValue, material: workload.material, size: workload.size,
                tasks: tasks, names: contenders.map(\.name), rounds: samples[job] ?? [])
        }
    }
}

import Benchmark
import Contenders

/// The benchmarks of one contender on one kind of item: store, read and promote, each measured item
/// by item on a folder of its own.
final class Course {
    private static let mostIterations = 1_000
    private static let warmups = 10

    private let entry: Entry
    private let label: String
    private let material: Material
    private let size: Int
    private var contender: (any Contender)?
    private var workspace: Workspace?
    private var next = 0

    init(_ entry: Entry, _ material: Material, size: Int) {
        self.entry = entry
        self.material = material
        self.size = size
        // Without blanks: the names of threshold files are made of it.
        label = "\(material)-\(size / 1024)KiB-\(entry.name)"
    }

    func register() {
        register("store", stored: false) { try await $0.store($1) }
        register("read", stored: true) { blackHole(try await $0.read($1)) }
        register("promote", stored: true) { try await $0.promote($1) }
    }

    private func register(
        _ job: String, stored: Bool, _ body: @escaping (any Contender, Int) async throws -> Void
    ) {
        Benchmark(
            "\(job)-\(label)",
            configuration: .init(
                metrics: Measured.metrics, warmupIterations: Self.warmups, maxDuration: .seconds(5),
                maxIterations: Self.mostIterations, thresholds: Measured.thresholds),
            closure: { benchmark in
                guard let contender = self.contender else { return }
                benchmark.startMeasurement()
                try await body(contender, self.next)
                benchmark.stopMeasurement()
                self.next += 1
            },
            setup: { try await self.setUp(stored: stored) },
            teardown: { try await self.tearDown() })
    }

    private func setUp(stored: Bool) async throws {
        let count = Self.mostIterations + Self.warmups
        let workload = try Workload.of(material, size: size, count: count, text: TextCorpus())
        let workspace = try Workspace()
        self.workspace = workspace
        let contender = try await entry.enter(workspace.makeFolder(), workload)
        if stored { for index in 0..<count { try await contender.store(index) } }
        self.contender = contender
        next = 0
    }

    private func tearDown() async throws {
        try await contender?.leave()
        contender = nil
        try workspace?.remove()
        workspace = nil
    }
}

import Benchmark
import Contenders

/// The benchmarks of one contender on one kind of item: store, read and promote, each measured item
/// by item on a folder of its own.
final class Course {
    private static let mostIterations = 1_000
    private static let warmups = 10

    private let contender: any Contender
    private let label: String
    private let material: Material
    private let size: Int
    private var workload: Workload?
    private var workspace: Workspace?
    private var next = 0

    init(_ contender: any Contender, _ material: Material, size: Int) {
        self.contender = contender
        self.material = material
        self.size = size
        // Without blanks: the names of threshold files are made of it.
        label = "\(material)-\(size / 1024)KiB-\(contender.name)"
    }

    func register() {
        register("store", stored: false) { course, index, content in
            try await course.contender.store(index, content)
        }
        register("read", stored: true) { course, index, _ in
            blackHole(try await course.contender.read(index))
        }
        register("promote", stored: true) { course, index, _ in
            try await course.contender.promote(index)
        }
    }

    private func register(
        _ job: String, stored: Bool, _ body: @escaping (Course, Int, [UInt8]) async throws -> Void
    ) {
        Benchmark(
            "\(job)-\(label)",
            configuration: .init(
                metrics: Measured.metrics, warmupIterations: Self.warmups, maxDuration: .seconds(5),
                maxIterations: Self.mostIterations, thresholds: Measured.thresholds),
            closure: { benchmark in
                guard let content = self.workload?.contents[self.next] else { return }
                benchmark.startMeasurement()
                try await body(self, self.next, content)
                benchmark.stopMeasurement()
                self.next += 1
            },
            setup: { try await self.setUp(stored: stored) },
            teardown: { try await self.tearDown() })
    }

    private func setUp(stored: Bool) async throws {
        let count = Self.mostIterations + Self.warmups
        let workload =
            switch material {
            case .text: Workload(text: try TextCorpus(), size: size, count: count)
            case .incompressible: Workload(incompressibleOf: size, count: count)
            }
        let workspace = try Workspace()
        self.workspace = workspace
        try await contender.prepare(in: workspace.makeFolder(), for: workload)
        if stored {
            for (index, content) in workload.contents.enumerated() {
                try await contender.store(index, content)
            }
        }
        self.workload = workload
        next = 0
    }

    private func tearDown() async throws {
        try await contender.cleanup()
        try workspace?.remove()
        workspace = nil
        workload = nil
    }
}

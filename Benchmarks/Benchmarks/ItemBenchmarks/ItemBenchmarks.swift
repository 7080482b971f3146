import Benchmark
import Contenders
import Foundation
import PrefetchCaching

/// One call at a time, for baselines and thresholds of `swift package benchmark`: what a change of
/// this project does to its own figures. How they compare with others is for `compare` to say.
///
/// The thresholds are counts of system calls that read and write. Times depend on the machine.
let benchmarks: @Sendable () -> Void = {
    for material in Material.allCases {
        for size in [4, 16, 64] { registerItems(of: .ours, material, size: size << 10) }
        registerItems(of: .floor, material, size: 16 << 10)
    }
    registerUpkeep()
}

/// Store, read and promote, each measured item by item.
private func registerItems(of entry: Entry, _ material: Material, size: Int) {
    func register(
        _ job: Job, _ call: @escaping (any Contender, Int) async throws -> Void
    ) {
        Calls(
            // Without blanks: the names of threshold files are made of it.
            "\(job)-\(material)-\(size / 1024)KiB-\(entry.name)", most: 1000, warmups: 10, seconds: 5,
            setUp: { folder, count in
                let workload = try Workload.of(material, size: size, count: count, text: TextCorpus())
                let contender = try await entry.enter(folder, workload)
                if job != .store { for index in 0..<count { try await contender.store(index) } }
                return contender
            }, tearDown: { try await $0.leave() }, call
        ).register()
    }
    register(.store) { try await $0.store($1) }
    register(.read) { blackHole(try await $0.read($1)) }
    register(.promote) { try await $0.promote($1) }
}

/// What is not about one item: what the catalog tells, a store that is refused, and eviction.
private func registerUpkeep() {
    let contents = Workload(incompressibleOf: 4 << 10, count: 1000).contents
    func register(_ name: String, _ call: @escaping (PrefetchCache, Int) async throws -> Void) {
        Calls(
            name, most: 300, warmups: 3, seconds: 2,
            setUp: { folder, _ in
                let cache = try await PrefetchCache(areas: .container(at: folder))
                // Used up by the items: what does not compress is charged with a block more, for its footer.
                let budget = ByteCount.bytes(Int64(contents.count * ((4 << 10) + 4096)))
                try await cache.configure(CacheConfiguration(budget: .fixed(budget)))
                for (index, content) in contents.enumerated() {
                    try await cache.demand(content, as: item("Item \(index)"))
                }
                _ = try await cache.statistics()
                return cache
            }, tearDown: { try await $0.close() }, call
        ).register()
    }
    register("statistics-of-1000-items") { cache, _ in blackHole(try await cache.statistics()) }
    register("list-of-1000-items") { cache, _ in blackHole(try await cache.items()) }
    register("store-that-evicts-one-item") { cache, number in
        try await cache.demand(contents[number % contents.count], as: item("New \(number)"))
    }
    register("refusal-of-too-large-an-item") { cache, _ in
        blackHole(try await cache.beginStoring(item("Large"), expectedLength: 1 << 34))
    }
}

private func item(_ name: String) throws -> ItemMetadata {
    try ItemMetadata(key: ItemKey(name), destination: .documents(FileName(name)))
}

/// Calls of something that is set up in a folder of its own, with their numbers.
private final class Calls<Subject> {
    private let name: String
    private let configuration: Benchmark.Configuration
    private let setUp: (URL) async throws -> Subject
    private let tearDown: (Subject) async throws -> Void
    private let call: (Subject, Int) async throws -> Void
    private var subject: Subject?
    private var workspace: Workspace?
    private var next = 0

    /// - Parameter setUp: Is told how many calls there are at most.
    init(
        _ name: String, most: Int, warmups: Int, seconds: Int,
        setUp: @escaping (URL, Int) async throws -> Subject,
        tearDown: @escaping (Subject) async throws -> Void,
        _ call: @escaping (Subject, Int) async throws -> Void
    ) {
        self.name = name
        // Counts only: times depend on the machine. What is done behind the users' backs falls into some calls, and
        // now and then a page of the ledger splits: a few more than were committed are let pass.
        let few = BenchmarkThresholds(absolute: [.p90: 6])
        configuration = .init(
            metrics: [.wallClock, .readSyscalls, .writeSyscalls], warmupIterations: warmups,
            maxDuration: .seconds(seconds), maxIterations: most,
            thresholds: [.readSyscalls: few, .writeSyscalls: few])
        self.setUp = { try await setUp($0, most + warmups) }
        (self.tearDown, self.call) = (tearDown, call)
    }

    func register() {
        Benchmark(
            name, configuration: configuration,
            closure: { benchmark in
                guard let subject = self.subject else { return }
                benchmark.startMeasurement()
                try await self.call(subject, self.next)
                benchmark.stopMeasurement()
                self.next += 1
            },
            setup: {
                let workspace = try Workspace()
                self.workspace = workspace
                self.subject = try await self.setUp(workspace.makeFolder())
                self.next = 0
            },
            teardown: {
                if let subject = self.subject { try await self.tearDown(subject) }
                self.subject = nil
                try self.workspace?.remove()
                self.workspace = nil
            })
    }
}

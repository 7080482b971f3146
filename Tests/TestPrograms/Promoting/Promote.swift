internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation
internal import Logging
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchVolumeCapacity
internal import SystemPackage

/// Promotes items, and ends in the middle: by `SIGKILL`, and first, where it is told to, by cutting the
/// power of a volume. Says on its standard output what it has been given. For tests.
struct Promote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Promotes items, and dies or cuts the power of its volume in the middle.")

    @Option(help: "The app's container.")
    var container: String
    @Option(help: "When to end: point:NUMBER or time:MICROSECONDS. Otherwise at the end.")
    var end: Moment?
    @Option(help: "The number of the call of the system at which to stop, by SIGSTOP.")
    var stop: Int?
    @Option(help: "The mounted volume to cut off before this process ends, wherever it ends.")
    var cut: String?
    @Option(
        help: "Something that the file system is not to do as it should.",
        transform: { name in
            guard let weakness = Weakness(rawValue: name) else { throw ValidationError("unknown: \(name)") }
            return weakness
        })
    var weakness: [Weakness] = []
    @Option(help: "A file whose lock coordinates access to iCloud Drive.")
    var coordinator: String?
    @Flag(help: "Say after each step which calls of the system it took.")
    var calls = false
    @Argument(help: "What to do: open=KEY, deliver=KEY=FILE, store=KEY, read=KEY, configure, evict or close.")
    var steps: [Step]

    func run() async throws {
        let end = try ending()
        // Who stops may hold a lock, which it takes without changing anything.
        let hasPointsAtAll = stop != nil || calls
        try SQLiteCalls.intercept(pointsAfter: cut != nil, locks: hasPointsAtAll)
        let fileSystem = InterceptingFileSystem(with: Set(weakness)) { operation in
            if hasPointsAtAll || operation.isChange { Points.shared.pass(operation.kind.rawValue) }
        }
        let start = ContinuousClock.now
        if let moment = self.end { Points.shared.end(at: moment, by: end) }
        if let stop { Points.shared.end(at: .point(stop)) { _ = raise(SIGSTOP) } }

        let cache: PrefetchCache
        do {
            cache = try await PrefetchCache(
                inContainer: container, on: fileSystem,
                coordinator: coordinator.map { LockFileCoordinator(file: FilePath($0)) })
        } catch {
            // The power may be gone already, and this process just not yet.
            if cut != nil { end() }
            throw error
        }
        for step in steps {
            _ = Points.shared.takeCalls()
            do {
                if let opened = try await step.take(in: cache) {
                    try say("opened", step.name, opened.path.string)
                } else {
                    try say("missed", step.name)
                }
            } catch {
                try say("failed", step.name, "\(error)")
            }
            if calls {
                let counts = Points.shared.takeCalls().map { "\($0)=\($1)" }
                try say("calls", step.name, counts.sorted().joined(separator: " "))
            }
        }
        let duration = start.duration(to: .now)
        try say("finished", "\(Points.shared.passed)", "\(duration / .microseconds(1))")
        if cut != nil { end() }
    }

    private func ending() throws -> @Sendable () -> Void {
        let kill: @Sendable () -> Void = { _ = Foundation.kill(getpid(), SIGKILL) }
        guard let cut else { return kill }
        #if os(Linux)
            let power = try PowerSwitch(of: cut)
            return {
                Points.shared.lastPower.lock()
                power.cut()
                kill()
            }
        #else
            throw ValidationError("The power of \(cut) can be cut on Linux only.")
        #endif
    }

    /// One line, written at once.
    private func say(_ words: String...) throws {
        try Points.shared.lastPower.withLock {
            try FileHandle.standardOutput.write(contentsOf: Data((words.joined(separator: "\t") + "\n").utf8))
        }
    }
}

extension PrefetchCache {
    /// The cache in a container, on a volume that is never short of space.
    convenience init(
        inContainer path: String, on fileSystem: any FileSystem, coordinator: LockFileCoordinator?
    ) async throws {
        var environment = CacheEnvironment.live(
            logger: Logger(label: "testprograms", factory: { _ in SwiftLogNoOpLogHandler() }))
        environment.fileSystem = fileSystem
        environment.coordinator = coordinator
        environment.probe = FixedVolumeProbe(VolumeState(total: 1 << 40, available: 1 << 39))
        // That of the process which filled the cache: the machine has not been down in between.
        environment.bootIdentifier = "boot-1"
        let root = URL(filePath: path, directoryHint: .isDirectory)
        try await self.init(areas: .container(at: root), environment: environment)
    }
}

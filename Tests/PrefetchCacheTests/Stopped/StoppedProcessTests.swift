#if os(Linux)
    import PrefetchFileSystem
    import FileSystemTestSupport
    import Foundation
    import Logging
    import Synchronization
    import SystemPackage
    import Testing
    import PrefetchVolumeCapacity

    @testable import PrefetchCaching

    /// Every public call of one process while another is stopped at each of its calls of the system in turn: it
    /// returns within a bound, or refuses and names the process. At a few of the calls, and at all of them where
    /// `PREFETCHCACHE_LONG_TESTS` is set.
    @Suite(.timeLimit(.minutes(120))) struct StoppedProcessTests {
        /// How much faster the clock of the waiting process goes: it waits for a tenth of a second.
        private static let haste = 50
        /// In which a call has to return. Generous: the machine has other work, and where a process was stopped while
        /// it restores the index of a write-ahead log, SQLite tries for 10 seconds of its own.
        private static let bound = Duration.seconds(30)

        /// Which wait for nobody, and are never refused.
        private static let reads = Set(PublicCall.reads.map(\.rawValue))

        private enum Outcome: Sendable {
            case returned, hung
            case failed(any Error)
        }

        @Test func everyCallReturnsOrNamesWhoIsStopped() async throws {
            var refusals: Set<String> = []
            for point in try Self.points() {
                let container = try Self.prepared()
                let child = try StoppedChild.start(at: point, in: container)
                let (faults, refused) = try await Self.look(at: child, in: container)
                #expect(faults.isEmpty, "stopped at \(point)")
                refusals.formUnion(refused)
            }
            if TestRun.isLong { #expect(refusals.isSuperset(of: ["statistics", "storeData", "open"])) }
        }

        /// A call that blocks until a stopped process lets go of its lock, as none of the cache must.
        @Test func aWaitWithoutEndIsNoticed() async throws {
            let container = try Self.prepared()
            let child = try StoppedChild.start(at: Self.pointInTheMiddle(), in: container)
            let endless = PublicCall(opening: "endless") {
                let lock = try #require(try Self.writerLock(in: container))
                await Lanes().run(.calls) {
                    let file = Glibc.open(lock.path, O_RDWR)
                    flock(file, LOCK_EX)
                    Glibc.close(file)
                }
            }
            let (faults, _) = try await Self.look(
                at: child, in: container, making: [endless], within: .seconds(1))
            #expect(faults == ["endless: hung"])
        }

        @Test func whoIsStoppedIsKnownToBe() throws {
            let container = try Self.prepared()
            let child = try StoppedChild.start(at: Self.pointInTheMiddle(), in: container)
            defer { child.kill() }
            let lock = FilePath(try #require(try Self.writerLock(in: container)).path)
            let folder = try Directory.openOrCreate(
                FilePath(container.root.path), permissions: .ownerReadWriteExecute, in: LiveFileSystem())
            let holder = try #require(LockHolder.of([lock], in: folder))
            #expect(holder.processID == child.number && holder.isStopped)
            #expect(!holder.name.isEmpty)
        }

        /// The file that the only writer keeps locked.
        private static func writerLock(in container: TemporaryContainer) throws -> URL? {
            let incoming = container.incoming
            return try container.files(below: incoming).first { $0.hasSuffix(".lock") }
                .map { incoming.appending(path: $0) }
        }

        private static func pointInTheMiddle() throws -> Int {
            try #require(try StoppedChild.calls(in: prepared())) / 2
        }

        private static func points() throws -> [Int] {
            if let point = Repetition.end.flatMap({ Int($0) }) { return [point] }
            let container = try prepared()
            let total = try #require(try StoppedChild.calls(in: container))
            return TestRun.sample(5, of: Array(1...total))
        }

        private static func prepared() throws -> TemporaryContainer {
            let container = try TemporaryContainer()
            let engine = try container.engine()
            try engine.store(prose(100_000), "text")
            try engine.store(noise(100_000), "noise")
            for number in PublicCall.cached + [PublicCall.opened] {
                let key = try ItemKey("api-\(number)")
                try engine.store(Content.of(key.string), key)
            }
            _ = try engine.open(ItemKey("api-\(PublicCall.opened)"))
            try engine.close()
            return container
        }

        /// Makes calls beside a stopped process, and ends it.
        ///
        /// - Returns: What is wrong, and which calls were refused.
        private static func look(
            at child: StressProcess, in container: TemporaryContainer,
            making calls: [PublicCall]? = nil,
            within bound: Duration = bound
        ) async throws -> (faults: [String], refused: Set<String>) {
            var faults: [String] = []
            var refused: Set<String> = []

            let found = Mutex<PrefetchCache?>(nil)
            let areas = try container.areas()
            let environment = environment()
            let opening = PublicCall(opening: "init") {
                let cache = try await PrefetchCache(areas: areas, environment: environment)
                found.withLock { $0 = cache }
            }
            for call in [opening] + (calls ?? PublicCall.all(in: container.root.path)) {
                let cache = found.withLock { $0 }
                // Opening takes as long as the machine is busy, whatever is made afterwards.
                let bound = call.name == opening.name ? Self.bound : bound
                let outcome = await outcome(within: bound, endingHangs: child.kill) {
                    try await call.make(cache)
                }
                switch outcome {
                case .returned: break
                case .hung: return (faults + ["\(call.name): hung"], refused)
                case .failed(CacheError.busy(_, let holder))
                where holder?.processID == child.number && !Self.reads.contains(call.name):
                    refused.insert(call.name)
                case .failed(let error): faults.append("\(call.name): \(error)")
                }
            }
            child.kill()

            // Whatever it had begun: others go on.
            let next = try await PrefetchCache(areas: areas, environment: Self.environment())
            try await next.store(prose(1000), as: ItemMetadata("next"))
            if try await next.open("next") == nil { faults.append("nothing can be opened afterwards") }
            try await next.close()
            return (faults, refused)
        }

        private static func environment() -> CacheEnvironment {
            var environment = CacheEnvironment.live(
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            environment.probe = FixedVolumeProbe.roomy
            environment.bootIdentifier = "boot-1"
            let start = ContinuousClock.now
            environment.uptime = { start.duration(to: .now) * haste }
            return environment
        }

        /// - Parameter endingHangs: Lets a call that hangs go on.
        private static func outcome(
            within bound: Duration, endingHangs: () -> Void,
            of call: @escaping @Sendable () async throws -> Void
        ) async -> Outcome {
            let (outcomes, continuation) = AsyncStream.makeStream(of: Outcome.self)
            let task = Task {
                do {
                    try await call()
                    continuation.yield(.returned)
                } catch {
                    continuation.yield(.failed(error))
                }
            }
            let watch = Task {
                try await Task.sleep(for: bound)
                continuation.yield(.hung)
            }
            for await outcome in outcomes {
                watch.cancel()
                if case .hung = outcome {
                    endingHangs()
                    await task.value
                }
                return outcome
            }
            return .hung
        }
    }
#endif

import Foundation
import Logging
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// An open that waits for iCloud Drive ends when its task is cancelled.
@Suite struct CancelledCoordinationTests {
    /// Gives one kind of access to nobody, as while the daemon holds the file.
    private final class Busy: FileCoordinating {
        private let access: Mutex<CoordinatedAccess?>
        private let (waits, continuation) = AsyncStream.makeStream(of: Void.self)

        init(_ access: CoordinatedAccess) { self.access = Mutex(access) }

        func release() { access.withLock { $0 = nil } }

        func waitForTheFirstToWait() async { for await _ in waits { return } }

        func coordinate(
            _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
        ) throws(FileSystemError) {
            guard self.access.withLock({ $0 == access }) else { return body() }
            let end = DispatchSemaphore(value: 0)
            let isCancelled = Cancellation.ending(by: { end.signal() }) {
                continuation.yield()
                end.wait()
            }
            #expect(isCancelled)
            throw FileSystemError("coordinate", path: path, errno: .canceled)
        }
    }

    @Test(arguments: [CoordinatedAccess.write, .publish], [true, false])
    func theWaitEndsAndTheNextOpenSucceeds(access: CoordinatedAccess, isJoint: Bool) async throws {
        let container = try TemporaryContainer()
        let busy = Busy(access)
        var environment = CacheEnvironment.live(
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        environment.coordinator = busy
        environment.probe = FixedVolumeProbe.roomy
        let cache = try await PrefetchCache(areas: container.areas(), environment: environment)
        let content = prose(50_000)
        for name in ["One.txt", "Two.txt"] {
            let item = try ItemMetadata(key: ItemKey(name), destination: .iCloudDrive(FileName(name)))
            _ = try await cache.store(content, as: item)
        }
        let opening = Task {
            guard isJoint else { return [try await cache.lookUpAndOpen("One.txt")] }
            return try await cache.open(["One.txt", "Two.txt"]).map { try $0.get() }
        }
        await busy.waitForTheFirstToWait()
        opening.cancel()
        await #expect(throws: CacheError.cancelled) { _ = try await opening.value }
        busy.release()
        let file = try #require(try await cache.open("One.txt"))
        #expect(try Data(contentsOf: file.url) == content)
        try await cache.close()
    }

    @Test func aTaskThatWasCancelledBeforeDoesNotWait() async throws {
        let waits = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Cancellation.following {
                let end = DispatchSemaphore(value: 0)
                return Cancellation.ending(by: { end.signal() }) { end.wait() }
            }
        }
        #expect(await waits.value)
    }
}

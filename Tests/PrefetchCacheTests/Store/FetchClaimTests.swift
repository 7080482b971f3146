import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Who fetches a key, of several processes that want to.
@Suite struct FetchClaimTests {
    private let container = TemporaryContainer.make()
    private let key: ItemKey = "key"

    private var files: [String] {
        get throws { try container.files(below: container.incoming).filter { $0.hasSuffix(".claim") } }
    }

    @Test func oneOfTwoClaimsAKeyUntilItIsReleased() throws {
        let (one, other) = (try container.engine(), try container.engine())
        let claim = try #require(try one.claims.claim(key.hash).claim)
        for engine in [one, other] {
            guard case .heldElsewhere = try engine.claims.claim(key.hash) else {
                Issue.record("claimed twice")
                return
            }
        }
        #expect(try other.claims.claim(ItemKey("other").hash).claim != nil)
        claim.release()
        #expect(try other.claims.claim(key.hash).claim != nil)
        // Once is enough.
        claim.release()
        #expect(try one.claims.claim(key.hash).claim == nil)
        try other.close()
        #expect(try files == [])
        #expect(try one.claims.claim(key.hash).claim != nil)
        try one.close()
        #expect(try files == [])
        #expect(throws: CacheError.closed) { try one.claims.claim(key.hash) }
    }

    /// A table of the whole system takes long to read where many locks are held.
    @Test func aClaimLooksAtNoOtherProcess() throws {
        let (fileSystem, log) = (InterceptingFileSystem(), OperationLog())
        fileSystem.intercept { log.add($0) }
        let (one, other) = (try container.engine(), try container.engine(fileSystem: fileSystem))
        let claim = try #require(try one.claims.claim(key.hash).claim)
        log.clear()
        #expect(try other.claims.claim(key.hash).claim == nil)
        #expect(try other.claims.isHeld(key.hash))
        _ = try other.claims.lastSign(of: key.hash)
        claim.release()
        #expect(try other.claims.claim(key.hash).claim != nil)
        #expect(!log.operations.isEmpty && !log.operations.contains { $0.name.hasPrefix("/proc") })
        #if os(Linux)
            // The log would show it.
            _ = LockHolder.of([CacheLayout.claim(of: key.hash)], in: other.folders.current.incoming)
            #expect(log.operations.contains { $0.name.hasPrefix("/proc") })
        #endif
    }

    @Test func whoeverFetchesShowsItEveryFiveSeconds() throws {
        let (one, other) = (try container.engine(), try container.engine())
        #expect(try other.claims.lastSign(of: key.hash) == nil)
        let claim = try #require(try one.claims.claim(key.hash).claim)
        claim.showLife()
        let first = try #require(try other.claims.lastSign(of: key.hash))
        #expect(first % 1_000_000_000 == 0 && first / 1_000_000_000 >= 1_700_000_000)
        claim.showLife()
        #expect(try other.claims.lastSign(of: key.hash) == first)
        // Each look at the clock takes a second.
        for _ in 0..<4 { _ = one.environment.now() }
        claim.showLife()
        #expect(try other.claims.lastSign(of: key.hash) == first + 5_000_000_000)
    }

    @Test func whatADeadProcessClaimedIsFree() throws {
        let live = try container.engine()
        #expect(try live.claims.claim(ItemKey("live").hash).claim != nil)
        let left = container.incoming.appending(path: CacheLayout.claim(of: key.hash).string)
        try Data().write(to: left)
        let next = try container.engine()
        #expect(try files == [CacheLayout.claim(of: ItemKey("live").hash).string])
        #expect(try next.claims.claim(key.hash).claim != nil)
    }

    @Test func aPurgeEndsNoClaimOfAnother() throws {
        let engine = try container.engine()
        let claim = try #require(try engine.claims.claim(key.hash).claim)
        try container.caches.remove()
        let other = try container.engine()
        #expect(try other.claims.claim(key.hash).claim != nil)
        claim.release()
        #expect(try engine.claims.claim(key.hash).claim == nil)
    }

    /// Without locks nobody is kept from anything.
    @Test func aFileSystemWithoutLocksExcludesNobody() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        fileSystem.fail(.notSupportedOnSocket) { $0.kind == .lock && $0.name.hasSuffix(".claim") }
        guard case .unsupported = try engine.claims.claim(key.hash) else {
            Issue.record("claimed")
            return
        }
    }
}

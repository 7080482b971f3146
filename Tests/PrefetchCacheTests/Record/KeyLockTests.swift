import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A lock is of one key.
@Suite struct KeyLockTests {
    private let container: TemporaryContainer
    private let staging: Directory

    init() throws {
        container = try TemporaryContainer()
        staging = try container.engine().destinations.support.staging
    }

    /// By a clock that goes on by a second whenever it is read.
    private func locks() -> KeyLock {
        let seconds = Atomic<Int>(0)
        return KeyLock(
            staging: staging,
            Patience(uptime: { .seconds(seconds.wrappingAdd(1, ordering: .relaxed).newValue) }))
    }

    /// Two hashes that begin alike.
    private let hashes = [KeyHash(high: 0xAB00 << 48, low: 1), KeyHash(high: 0xAB01 << 48, low: 1)]

    @Test func noKeyIsLockedWithAnother() throws {
        let (one, other) = (locks(), locks())
        try one.hold(hashes[0]) { () throws(CacheError) in
            var isReached = false
            try other.hold(hashes[1]) { () throws(CacheError) in isReached = true }
            #expect(isReached)
            try other.holdFree(hashes) { isHeld throws(CacheError) in
                #expect(!isHeld(hashes[0]) && isHeld(hashes[1]))
            }
            // All threads of a process, too.
            try one.holdIfFree(hashes[1]) { () throws(CacheError) in isReached = false }
            #expect(!isReached)
        }
        try other.hold(hashes) { () throws(CacheError) in }
    }

    @Test func whoHoldsTheLockOfAKeyIsNamed() throws {
        let (one, other) = (locks(), locks())
        _ = try one.hold(hashes[0]) { () throws(CacheError) in
            #expect {
                _ = try other.hold(hashes) { () throws(CacheError) in }
            } throws: { error in
                guard case CacheError.busy("item", let holder) = error else { return false }
                #if canImport(Darwin)
                    return holder == nil
                #else
                    return holder?.processID == getpid() && holder?.isStopped == false
                #endif
            }
        }
        #if !canImport(Darwin)
            try one.hold(hashes[0]) { () throws(CacheError) in
                let position = KeyLock.position(of: hashes[1])
                #expect(LockHolder.of([CacheLayout.keyLocks], in: staging, byte: position) == nil)
            }
        #endif
    }

    /// Whoever was waited for in vain is not waited for again at once; the holder of another key is.
    @Test func aWaitInVainForOneKeyDoesNotShortenThatForAnother() throws {
        let seconds = Atomic<Int>(0)
        let other = KeyLock(
            staging: staging,
            Patience(uptime: { .seconds(seconds.wrappingAdd(1, ordering: .relaxed).newValue) }))
        func wait(_ hash: KeyHash) -> Int {
            let start = seconds.load(ordering: .relaxed)
            #expect(throws: CacheError.self) { try other.hold(hash) { () throws(CacheError) in } }
            return seconds.load(ordering: .relaxed) - start
        }
        try locks().hold(hashes) { () throws(CacheError) in
            #expect(wait(hashes[0]) >= 5)
            #expect(wait(hashes[0]) <= 2)
            #expect(wait(hashes[1]) >= 5)
        }
    }

    /// Nor do the files of former versions.
    @Test func onlyOneFileStays() throws {
        let locks = locks()
        for number in 0..<100 {
            try locks.hold(ItemKey("key \(number)").hash) { () throws(CacheError) in }
        }
        #expect(try container.files(below: container.support.appending(path: "staging")) == ["keys.lock"])
    }
}

import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching
@testable import cachectl

@Suite struct ForgettingTests {
    let container: Container

    init() throws {
        container = try Container()
        for key in ["one", "two"] {
            try container.succeed(
                "put", key, "-", "--to", "documents", "--name", key, input: text + Data(key.utf8))
            try container.succeed("open", key)
        }
    }

    @Test func aKeyThatIsNamedTwiceIsForgottenOnce() throws {
        #expect(try container.succeed("forget", "one", "one").text.hasPrefix("forgot one; its file stays"))
    }

    @Test func whatWasForgottenIsReportedEvenIfTheNextKeyFails() throws {
        let locks = container.root.appending(
            path: "Library/Application Support/PrefetchCache/staging/\(CacheLayout.keyLocks.string)")
        let live = LiveFileSystem()
        let file = try live.open(FilePath(locks.path), in: .workingDirectory, .readWrite)
        defer { live.unlockBytes(file) }
        #expect(try live.lockByte(KeyLock.position(of: ItemKey("two").hash), of: file))
        let outcome = try container.cachectl("forget", "one", "two", "--json")
        #expect(outcome.status != 0)
        #expect(outcome.text.contains(#""one""#))
    }
}

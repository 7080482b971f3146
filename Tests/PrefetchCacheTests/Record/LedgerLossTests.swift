import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Contract 9, second half: losing the ledger costs exactly-once, never promoted bytes.
@Suite struct LedgerLossTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws {
        engine = try container.engine()
        try engine.store(prose(5000), "one")
        _ = try engine.open("one")
    }

    private var ledger: URL { container.record }

    @Test func aLedgerThatIsRemovedUnderAnOpenHandleIsMadeAnew() throws {
        try ledger.remove()
        try engine.store(prose(6000), "two")
        #expect(try engine.open("two").value?.isFirstOpen == true)
        #expect(try container.engine().open("two").value?.isFirstOpen == false)
    }

    /// Whoever copies the file alone, as a backup may, has what is in it.
    @Test func whatWasEnteredIsInTheFileWhenNothingHasHappenedForASecond() throws {
        try engine.maintain()
        let copy = container.root.appending(path: "copy.sqlite")
        try FileManager.default.copyItem(at: ledger, to: copy)
        #expect(try copy.integer(sql: "SELECT COUNT(*) FROM promotion") == 1)
        try engine.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: container.support.path)
        #expect(names.filter { $0.hasPrefix("record") } == ["record.sqlite"])
    }

    @Test func theSameContentIsAdoptedWhenItIsOpenedAgain() throws {
        try ledger.remove()
        try engine.store(prose(5000), "one")
        #expect(try engine.open("one").value?.path.lastComponent?.string == "one")
        #expect(try container.files(below: container.documents) == ["one"])
    }

    @Test func aLedgerOfANewerVersionIsRefusedAndLeftAsItIs() throws {
        try engine.close()
        let before = try Data(contentsOf: ledger)
        var newer = before
        // The user version, a big-endian word at offset 60 of every SQLite file.
        newer.replaceSubrange(60..<64, with: [0, 0, 0, 9])
        try newer.write(to: ledger)
        #expect(throws: CacheError.newerLedger(version: 9)) { try container.engine().open("one") }
        #expect(try Data(contentsOf: ledger) == newer)
    }
}

import Foundation
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
}

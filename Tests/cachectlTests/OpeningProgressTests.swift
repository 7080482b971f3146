import PrefetchCache
import Synchronization
import Testing

@testable import cachectl

@Suite struct OpeningProgressTests {
    private let written: Written
    private let progress: WorkProgress

    private final class Written: Sendable {
        let texts = Mutex<[String]>([])
    }

    init() {
        let written = Written()
        self.written = written
        progress = WorkProgress { text in written.texts.withLock { $0.append(text) } }
    }

    private func show(_ key: ItemKey, _ mebibytes: Int64, of total: Int64 = 100) {
        progress.show(OpenProgress(key: key, completedBytes: mebibytes << 20, totalBytes: total << 20))
    }

    @Test func everyItemHasItsLineAndAllAreCleared() {
        for done in 1...4 { show("a", Int64(done)) }
        show("a", 4)
        show("b", 50)
        progress.clear()
        progress.clear()
        let texts = written.texts.withLock { $0 }
        #expect(texts.count == 6)
        #expect(texts.first == "\ra [----------] 1 %\u{1B}[K")
        #expect(texts.suffix(2) == ["\rb [#####-----] 50 %\u{1B}[K", "\r\u{1B}[K"])
    }

    @Test func whatIsDoneAtOnceIsNotShown() {
        show("a", 4, of: 8)
        progress.clear()
        #expect(written.texts.withLock { $0 }.isEmpty)
    }
}

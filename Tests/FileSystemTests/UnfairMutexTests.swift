import Foundation
import PrefetchFileSystem
import Testing

@Suite struct UnfairMutexTests {
    private struct Failure: Error {}

    @Test func onlyOneThreadAtATimeHasTheValue() {
        let counter = UnfairMutex((count: 0, isUsed: false))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 {
                counter.withLock { state in
                    if state.isUsed { return }
                    state.isUsed = true
                    state.count += 1
                    state.isUsed = false
                }
            }
        }
        #expect(counter.withLock(\.count) == 80_000)
    }

    @Test func anErrorReleasesIt() {
        let value = UnfairMutex(1)
        #expect(throws: Failure.self) {
            try value.withLock { value in
                value = 2
                throw Failure()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }
}

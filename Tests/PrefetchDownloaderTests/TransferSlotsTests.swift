import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading

/// Downloads that wait for their turn.
@Suite struct TransferSlotsTests {
    private func entry(_ number: Int) -> SlotQueue.Entry {
        SlotQueue.Entry(number: number, host: "a", isRequested: false, priority: 0)
    }

    private func slots() -> TransferSlots {
        var configuration = DownloaderConfiguration(hosts: [])
        configuration.transfers = 1
        return TransferSlots(configuration)
    }

    /// Its task would wait for ever.
    @Test func whoWaitsWithATaskIsNotWithdrawn() async {
        // Of its own, so that it does not wait for other tests.
        let executor = BlockingExecutor(width: 2)
        await Task(executorPreference: executor) {
            let slots = slots()
            slots.take(entry(1)) {}
            let entry = entry(2)
            let user = Task(executorPreference: executor) { await slots.use(entry, isHeld: false) { true } }
            for _ in 0..<1000 {
                // It would wait for ever.
                guard !slots.withdraw(2) else { Issue.record("withdrawn"); return }
                await Task.yield()
            }
            slots.free(1)
            #expect(await user.value == true)
        }.value
    }

    @Test func whoWaitsWithoutOneIsWithdrawn() {
        let slots = slots()
        slots.take(entry(1)) {}
        slots.take(entry(2)) { Issue.record("withdrawn") }
        #expect(slots.withdraw(2))
        #expect(!slots.withdraw(2))
        slots.free(1)
    }
}

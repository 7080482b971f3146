import Testing

@testable import PrefetchDownloading

/// Downloads that wait for their turn.
@Suite(.timeLimit(.minutes(3))) struct TransferSlotsTests {
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
        let slots = slots()
        slots.take(entry(1)) {}
        let user = Task { await slots.use(entry(2), isHeld: false) { true } }
        for _ in 0..<1000 {
            // It would wait for ever.
            guard !slots.withdraw(2) else { Issue.record("withdrawn"); return }
            await Task.yield()
        }
        slots.free(1)
        #expect(await user.value == true)
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

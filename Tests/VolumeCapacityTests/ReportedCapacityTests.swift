import PrefetchVolumeCapacity
import Testing

/// What the system says counts where it says something, and only there.
@Suite struct ReportedCapacityTests {
    private let model = CapacityModel()
    private let state = VolumeState(
        total: 128_000_000_000, available: 25_600_000_000, evictable: 1_000_000_000)

    @Test(arguments: [
        ReportedCapacity(), ReportedCapacity(important: 0, opportunistic: 0),
        ReportedCapacity(important: -1, opportunistic: .min), ReportedCapacity(opportunistic: 0),
    ])
    func anUnknownValueIsTheModels(_ unknown: ReportedCapacity) {
        let capacity = model.capacity(of: reporting(unknown))
        #expect(capacity == model.capacity(of: state))
        #expect(capacity.state.reported == nil)
        #expect(!capacity.isImportantReported)
        #expect(!capacity.isOpportunisticReported)
    }

    @Test func aReportedImportantReplacesTheModels() {
        let capacity = model.capacity(
            of: reporting(ReportedCapacity(important: 30_000_000_000, opportunistic: 0)))
        #expect(capacity.important == 30_000_000_000)
        #expect(capacity.isImportantReported)
        #expect(!capacity.isOpportunisticReported)
        #expect(capacity.opportunistic == model.capacity(of: state).opportunistic)
        #expect(capacity.budget == model.capacity(of: state).budget)
    }

    /// 1 GB of our own and 0.5 GB more are 1.5 GB, into which 16 MiB go 89 times.
    @Test func aReportedOpportunisticIsWhatTheCacheMayGrowBy() {
        let capacity = model.capacity(of: reporting(ReportedCapacity(opportunistic: 500_000_000)))
        #expect(capacity.opportunistic == 500_000_000)
        #expect(capacity.room == 1_500_000_000)
        #expect(capacity.budget == 89 << 24)
        #expect(capacity.isOpportunisticReported)
        #expect(!capacity.isImportantReported)
        #expect(capacity.important == model.capacity(of: state).important)
    }

    @Test func opportunisticIsAtMostImportant() {
        let capacity = model.capacity(
            of: reporting(ReportedCapacity(important: 2_000_000_000, opportunistic: 3_000_000_000)))
        #expect(capacity.important == 2_000_000_000)
        #expect(capacity.opportunistic == 2_000_000_000)
        #expect(capacity.room == 3_000_000_000)
    }

    @Test func moreThanTheVolumeIsTheVolume() {
        let capacity = model.capacity(
            of: reporting(ReportedCapacity(important: .max, opportunistic: .max)))
        #expect(capacity.important == state.total)
        #expect(capacity.opportunistic == state.total)
        #expect(capacity.room == state.total)
        #expect(capacity.share == model.capacity(of: state).share)
    }

    @Test func anAmountOutsideTheVolumeIsItsNearestBound() {
        let high = VolumeState(total: 10, available: 11, evictable: .max, purgeable: 12)
        #expect(high.sanitized == VolumeState(total: 10, available: 10, evictable: 10, purgeable: 10))
        let low = VolumeState(total: -1, available: 5, evictable: .min, purgeable: -3)
        #expect(low.sanitized == VolumeState(total: 0, available: 0))
        #expect(high.sanitized.sanitized == high.sanitized)
        #expect(model.capacity(of: high) == model.capacity(of: high.sanitized))
    }

    private func reporting(_ reported: ReportedCapacity) -> VolumeState {
        var state = state
        state.reported = reported
        return state
    }
}

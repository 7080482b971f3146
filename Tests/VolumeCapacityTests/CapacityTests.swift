import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchVolumeCapacity

/// The examples of the documentation, in decimal gigabytes.
@Suite struct WorkedExampleTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let total: Double
        let available: Double
        var important: Double?
        var opportunistic: Double?
        let budget: Double
        var level = Pressure.normal

        var testDescription: String { "\(available) of \(total) GB" }
    }

    static let examples = [
        Example(total: 16, available: 0.16, important: 0, opportunistic: 0, budget: 0, level: .critical),
        Example(total: 16, available: 3.2, important: 2.68, opportunistic: 0.80, budget: 0.80),
        Example(total: 16, available: 9.6, opportunistic: 7.20, budget: 1.59),
        Example(total: 128, available: 6.4, budget: 1.28),
        Example(total: 128, available: 25.6, budget: 3.19),
        Example(total: 128, available: 76.8, budget: 7.72),
        Example(total: 1000, available: 50, budget: 5.64),
        Example(total: 1000, available: 600, budget: 17.18),
    ]

    @Test(arguments: examples) func theModelGivesTheDocumentedAmounts(_ example: Example) {
        let state = VolumeState(total: bytes(example.total), available: bytes(example.available))
        let capacity = CapacityModel().capacity(of: state)
        #expect(gigabytes(capacity.budget) == example.budget)
        if let important = example.important { #expect(gigabytes(capacity.important) == important) }
        if let opportunistic = example.opportunistic {
            #expect(gigabytes(capacity.opportunistic) == opportunistic)
        }
        #expect(CapacityModel().pressure(of: state, after: .normal) == example.level)
    }

    /// 16 GB, 9.6 free: 15 % of the total are less than 4 GiB, so the reserve is 2.4 GB. The share is a
    /// quarter of 4,294,967,296 and a tenth of the remaining 5,305,032,704. The quantum is
    /// 16,000,000,000 ÷ 1024 = 15,625,000, which goes 102 times into 1,604,245,094.
    @Test func aSmallVolumeIsComputedToTheByte() {
        let capacity = CapacityModel().capacity(
            of: VolumeState(total: 16_000_000_000, available: 9_600_000_000))
        #expect(capacity.low == 524_288_000)
        #expect(capacity.reserve == 2_400_000_000)
        #expect(capacity.important == 9_075_712_000)
        #expect(capacity.opportunistic == 7_200_000_000)
        #expect(capacity.room == 7_200_000_000)
        #expect(capacity.share == 1_073_741_824 + 530_503_270)
        #expect(capacity.quantum == 15_625_000)
        #expect(capacity.budget == 1_593_750_000)
        #expect(capacity.thresholds.elevated == .init(enter: 2_400_000_000, leave: 2_640_000_000))
        #expect(capacity.thresholds.low == .init(enter: 786_432_000, leave: 1_048_576_000))
        #expect(capacity.thresholds.critical == .init(enter: 524_288_000, leave: 786_432_000))
    }

    /// 128 GB, 60 free, 10 of our own and 5 purgeable: 70 GB are ours or free, of which 68,719,476,736
    /// are in the first two tiers; the rest of 1,280,523,264 gives a fortieth. 16 MiB go 449 times into
    /// 7,548,205,849.
    @Test func whatIsOursCountsLikeWhatIsFree() {
        let capacity = CapacityModel().capacity(
            of: VolumeState(
                total: 128_000_000_000, available: 60_000_000_000, evictable: 10_000_000_000,
                purgeable: 5_000_000_000))
        #expect(capacity.reserve == 4_294_967_296)
        #expect(capacity.ownOrFree == 70_000_000_000)
        #expect(capacity.important == 74_475_712_000)
        #expect(capacity.opportunistic == 55_705_032_704)
        #expect(capacity.room == 65_705_032_704)
        #expect(capacity.share == 1_073_741_824 + 6_442_450_944 + 32_013_081)
        #expect(capacity.quantum == 16_777_216)
        #expect(capacity.budget == 449 * 16_777_216)
    }

    @Test func theSmallerOfTheTwoCapsApplies() {
        let state = VolumeState(total: 1_000_000_000_000, available: 600_000_000_000)
        let model = CapacityModel()
        #expect(model.capacity(of: state).budget == 16 << 30)
        #expect(model.capacity(of: state, cap: 17 << 30).budget == 16 << 30)
        #expect(model.capacity(of: state, cap: 1 << 30).budget == 1 << 30)
        #expect(model.capacity(of: state, cap: (1 << 30) - 1).budget == (1 << 30) - 1)
        // Less than the step of 16 MiB, to which all else is rounded down.
        #expect(model.capacity(of: state, cap: 10_000_000).budget == 10_000_000)
        #expect(model.capacity(of: state, cap: -1).budget == 0)
    }

    @Test(arguments: [0, 1_000_000, 100_000_000_000, 2_000_000_000_000])
    func aFixedReserveIsThatOfEveryVolume(_ reserve: Int64) {
        var model = CapacityModel()
        #expect(model.fixedReserve == nil)
        model.fixedReserve = reserve
        #expect(model.fixedReserve == reserve && model.problem == nil)
        let state = VolumeState(total: 1_000_000_000_000, available: 600_000_000_000)
        let capacity = model.capacity(of: state)
        #expect(capacity.reserve == min(reserve, state.total))
        #expect(capacity.room == max(0, state.available - reserve))
        model.fixedReserve = nil
        #expect(model == CapacityModel())
    }

    private func bytes(_ gigabytes: Double) -> Int64 {
        Int64((gigabytes * 1e9).rounded())
    }

    /// Rounded to two digits.
    private func gigabytes(_ bytes: Int64) -> Double {
        (Double(bytes) / 1e7).rounded() / 100
    }
}

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
        #expect(capacity.isImportantReported && !capacity.isOpportunisticReported)
        #expect(capacity.opportunistic == model.capacity(of: state).opportunistic)
        #expect(capacity.budget == model.capacity(of: state).budget)
    }

    /// 1 GB of our own and 0.5 GB more are 1.5 GB, into which 16 MiB go 89 times.
    @Test func aReportedOpportunisticIsWhatTheCacheMayGrowBy() {
        let capacity = model.capacity(of: reporting(ReportedCapacity(opportunistic: 500_000_000)))
        #expect((capacity.opportunistic, capacity.room) == (500_000_000, 1_500_000_000))
        #expect(capacity.budget == 89 << 24)
        #expect(capacity.isOpportunisticReported && !capacity.isImportantReported)
        #expect(capacity.important == model.capacity(of: state).important)
    }

    @Test func opportunisticIsAtMostImportantAndMoreThanTheVolumeIsTheVolume() {
        var capacity = model.capacity(
            of: reporting(ReportedCapacity(important: 2_000_000_000, opportunistic: 3_000_000_000)))
        #expect((capacity.important, capacity.opportunistic) == (2_000_000_000, 2_000_000_000))
        #expect(capacity.room == 3_000_000_000)
        capacity = model.capacity(of: reporting(ReportedCapacity(important: .max, opportunistic: .max)))
        #expect((capacity.important, capacity.opportunistic) == (state.total, state.total))
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

@Suite struct VolumeProbeTests {
    @Test func aRealFolderHasTheStateOfItsVolume() throws {
        let folder = try TemporaryFolder()
        let probe = VolumeProbe(fileSystem: live)
        let figures = try live.volume(of: folder.descriptor)
        let state = try probe.state(of: folder.descriptor)
        #expect(state.total == figures.total)
        #expect(state.total > 0)
        #expect((0...state.total).contains(state.available))
        #expect(state.evictable == 0)
        #expect(state.purgeable == 0)
        #if !canImport(Darwin)
            #expect(state.reported == nil)
        #endif
    }

    @Test func theFiguresOfTheFileSystemAreTheState() throws {
        struct Volume: UnimplementedFileSystem {
            func volume(of _: Descriptor) throws(FileSystemError) -> VolumeFigures {
                VolumeFigures(total: 1000, available: 300, blockSize: 512)
            }
        }
        let state = try VolumeProbe(fileSystem: Volume()).state(of: .workingDirectory)
        #expect(state == VolumeState(total: 1000, available: 300))
    }

    @Test func aVolumeThatCannotBeAskedIsAnError() {
        struct Silent: UnimplementedFileSystem {}
        #expect {
            try VolumeProbe(fileSystem: Silent()).state(of: .workingDirectory)
        } throws: { error in
            (error as? FileSystemError)?.errno == .noFunction
        }
    }

    @Test func theSystemIsAskedOnceInThirtySecondsForEachVolume() {
        let clock = Mutex(Duration.zero)
        let reports = CapacityReports(uptime: { clock.withLock { $0 } })
        var asked = 0
        func capacity(_ volume: UInt64, available: Int64) -> ReportedCapacity? {
            reports.capacity(of: volume, available: available) {
                asked += 1
                return ReportedCapacity(important: 900 - Int64(asked) * 100, opportunistic: 100)
            }
        }
        #expect(capacity(1, available: 500) == ReportedCapacity(important: 800, opportunistic: 100))
        clock.withLock { $0 = .seconds(29) }
        // 200 bytes were written meanwhile.
        #expect(capacity(1, available: 300) == ReportedCapacity(important: 600, opportunistic: 1))
        #expect(asked == 1)
        #expect(capacity(2, available: 500) == ReportedCapacity(important: 700, opportunistic: 100))
        clock.withLock { $0 = .seconds(30) }
        #expect(capacity(1, available: 300) == ReportedCapacity(important: 600, opportunistic: 100))
        #expect(asked == 3)
    }
}

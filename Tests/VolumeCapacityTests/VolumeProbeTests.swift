import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchVolumeCapacity

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

import FileSystemTestSupport
import PrefetchFileSystem
import PrefetchVolumeCapacity
import SystemPackage
import Testing

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
}

import PrefetchFileSystem
import SystemPackage
import Testing

@Suite struct FileSystemErrorTests {
    @Test(arguments: [(Errno.noSpace, true), (.diskQuotaExceeded, true), (.ioError, false)])
    func aFullVolumeAndAFullQuotaAreOutOfSpace(_ errno: Errno, _ isOutOfSpace: Bool) {
        #expect(FileSystemError("write", errno: errno).isOutOfSpace == isOutOfSpace)
    }

    @Test(arguments: [
        (Errno.permissionDenied, true), (.notPermitted, true), (.readOnlyFileSystem, true), (.noSpace, false),
    ])
    func refusalsAreNotPermitted(_ errno: Errno, _ isNotPermitted: Bool) {
        #expect(FileSystemError("open", errno: errno).isNotPermitted == isNotPermitted)
    }

    @Test func theDescriptionLeavesOutAPathThatIsNotThere() {
        #expect(FileSystemError("fsync", errno: .ioError).description == "fsync: Input/output error")
        #expect(
            FileSystemError("unlink", path: "a", errno: .ioError).description
                == "unlink a: Input/output error")
    }
}

import FileSystemTestSupport
import PrefetchFileSystem
import PrefetchStorageAreas
import SystemPackage
import Testing

/// The mark on real files; what file systems without a place for it do is in `BackupMarkSupportTests`.
@Suite(.enabled(if: Volume.hasMarks, "the temporary folder's file system has no place for marks"))
struct BackupMarkTests {
    let mark = BackupMark(fileSystem: live)
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func makeFile() throws -> Directory {
        // `Directory` closes its descriptor, of whatever kind.
        Directory(try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite)), of: live)
    }

    @Test func aNewFileIsIncluded() throws {
        let file = try makeFile()
        #expect(try mark.policy(of: file.descriptor) == .include)
    }

    @Test func theMarkIsPutOnAndTakenOffAsOftenAsOneLikes() throws {
        let file = try makeFile()
        for policy: BackupPolicy in [.exclude, .exclude, .include, .include, .exclude] {
            try mark.set(policy, on: file.descriptor)
            #expect(try mark.policy(of: file.descriptor) == policy)
        }
    }

    @Test func aFolderCanBeMarked() throws {
        try mark.set(.exclude, on: folder.descriptor)
        #expect(try mark.policy(of: folder.descriptor) == .exclude)
    }

    @Test func theMarkStaysThroughARename() throws {
        let file = try makeFile()
        try mark.set(.exclude, on: file.descriptor)
        try live.rename("file", in: folder.descriptor, to: "film", in: folder.descriptor, .exclusive)
        try live.withFile("film", in: folder.descriptor, .read) { file throws(FileSystemError) in
            let policy = try mark.policy(of: file)
            #expect(policy == .exclude)
        }
    }

    @Test func theContentIsNotTouched() throws {
        let file = try makeFile()
        try live.writeAll(Array("content".utf8), to: file.descriptor, at: 0)
        try mark.set(.exclude, on: file.descriptor)
        try mark.set(.include, on: file.descriptor)
        #expect(try folder.text(of: "file") == "content")
    }
}

/// What the file system of the temporary folder can do.
enum Volume {
    static let hasMarks = TemporaryFolder.can { folder throws(FileSystemError) in
        try BackupMark(fileSystem: live).set(.exclude, on: folder)
    }

    static let hasNoDumpAndAttributes = TemporaryFolder.can { folder throws(FileSystemError) in
        try live.setNoDump(true, of: folder)
        try live.setExtendedAttribute("user.storageareastests", to: [1], of: folder)
    }
}

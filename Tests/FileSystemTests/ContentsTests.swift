import FileSystemTestSupport
import PrefetchFileSystem
import SystemPackage
import Testing

@Suite struct ContentsTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func aMissingFileHasNoContents() throws {
        #expect(try live.contents(of: "missing", in: folder.descriptor, limit: 10) == nil)
    }

    @Test func theLimitIsInclusive() throws {
        try folder.write("12345", to: "file")
        try folder.write("", to: "empty")
        #expect(try live.contents(of: "file", in: folder.descriptor, limit: 5) == Array("12345".utf8))
        #expect(try live.contents(of: "empty", in: folder.descriptor, limit: 0) == [])
        #expect(throws: FileSystemError("read", path: "file", errno: .fileTooLarge)) {
            try live.contents(of: "file", in: folder.descriptor, limit: 4)
        }
    }

    @Test func contentsBehindALinkAreRefused() throws {
        try folder.write("secret", to: "file")
        try folder.link("link", to: "file")
        #expect(throws: FileSystemError("open", path: "link", errno: .tooManySymbolicLinkLevels)) {
            try live.contents(of: "link", in: folder.descriptor, limit: 10)
        }
    }
}

import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@Suite struct AttributesTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func aMissingNameHasNoAttributes() throws {
        #expect(try live.attributes(of: "missing", in: folder.descriptor) == nil)
    }

    @Test func lengthAndKindAreThoseOfTheName() throws {
        try folder.write("12345", to: "file")
        try folder.makeFolder("folder")
        try folder.link("link", to: "file")
        let file = try #require(try live.attributes(of: "file", in: folder.descriptor))
        #expect(file.kind == .regular)
        #expect(file.length == 5)
        #expect(file.linkCount == 1)
        #expect(file.owner == live.userID)
        #expect(live.userID == geteuid())
        #expect(try live.attributes(of: "folder", in: folder.descriptor)?.kind == .directory)
        #expect(try live.attributes(of: "link", in: folder.descriptor)?.kind == .symbolicLink)
    }

    @Test func theAttributesOfAnOpenFileAreThoseOfItsName() throws {
        try folder.write("12345", to: "file")
        let named = try live.attributes(of: "file", in: folder.descriptor)
        let file = try live.open("file", in: folder.descriptor, .read)
        defer { live.close(file) }
        #expect(try live.attributes(of: file) == named)
        let (length, linkCount) = try live.lengthAndLinks(of: file)
        #expect(length == 5)
        #expect(linkCount == 1)
    }

    @Test func twoNamesOfOneFileHaveOneIdentity() throws {
        try folder.write("", to: "one")
        try folder.write("", to: "other")
        try FileManager.default.linkItem(
            atPath: folder.path.appending("one").string, toPath: folder.path.appending("two").string)
        let one = try #require(try live.attributes(of: "one", in: folder.descriptor))
        let two = try #require(try live.attributes(of: "two", in: folder.descriptor))
        let other = try #require(try live.attributes(of: "other", in: folder.descriptor))
        #expect(one.identity == two.identity)
        #expect(one.linkCount == 2)
        let links = try live.withFile("two", in: folder.descriptor, .read) { file throws(FileSystemError) in
            try live.lengthAndLinks(of: file).linkCount
        }
        #expect(links == 2)
        #expect(one.identity != other.identity)
    }

    @Test func theTimeOfCreationStaysWithItsFile() throws {
        func birthTime(_ name: FilePath) throws -> Int64? {
            try live.withFile(name, in: folder.descriptor, .read) { file throws(FileSystemError) in
                try live.birthTime(of: file)
            }
        }
        try folder.write("", to: "file")
        guard let first = try birthTime("file") else { return }
        #expect(first > 1_500_000_000_000_000_000)
        try live.withFile("file", in: folder.descriptor, .readWrite) { file throws(FileSystemError) in
            try live.writeAll([1, 2, 3], to: file, at: 0)
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_234_567_890)],
            ofItemAtPath: folder.path.appending("file").string)
        try live.rename(
            "file", in: folder.descriptor, to: "renamed", in: folder.descriptor, .exclusive)
        #expect(try birthTime("renamed") == first)
    }

    @Test func modificationTimeIsNanosecondsSince1970() throws {
        try folder.write("", to: "file")
        let date = Date(timeIntervalSince1970: 1_234_567_890)
        try FileManager.default.setAttributes(
            [.modificationDate: date], ofItemAtPath: folder.path.appending("file").string)
        let attributes = try live.attributes(of: "file", in: folder.descriptor)
        #expect(attributes?.modified == 1_234_567_890_000_000_000)
    }

    /// A `timespec` counts its nanoseconds upwards, before 1970 too. The last time is after 2038.
    @Test(arguments: [-1_500_000_000, -1, 0, 1_500_000_000, 5_000_000_000_250_000_000])
    func accessTimesAreKeptBeforeAndAfter1970(time: Int64) throws {
        let file = try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        try live.setTimes(accessed: time, modified: nil, of: file)
        #expect(try live.accessTime(of: file) == time)
    }

    @Test func allocatedBytesAreOfTheVolumeNotOfTheLength() throws {
        try live.withFile("sparse", in: folder.descriptor, .createNew(.ownerReadWrite)) {
            file throws(FileSystemError) in
            try live.resize(file, to: 1 << 30)
        }
        let attributes = try #require(try live.attributes(of: "sparse", in: folder.descriptor))
        #expect(attributes.length == 1 << 30)
        #expect(attributes.allocated < 1 << 20)
    }

    @Test func permissionsCanBeChanged() throws {
        let file = try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        try live.setPermissions([.ownerReadWrite, .groupRead, .otherRead], of: file)
        #expect(try live.attributes(of: file).permissions.rawValue == 0o644)
    }

    @Test func aVolumeHasNoMoreSpaceThanItsSize() throws {
        let volume = try live.volume(of: folder.descriptor)
        #expect(volume.total > 0)
        #expect((0...volume.total).contains(volume.available))
        #expect(volume.blockSize > 0)
        #expect(volume.total % volume.blockSize == 0)
    }
}

@Suite struct MarksTests {
    static let attribute = "user.filesystemtests"

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(.enabled(if: Volume.hasNoDump, "the temporary folder's file system has no no-dump flag"))
    func theNoDumpFlagIsSetAndCleared() throws {
        let file = try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        #expect(try live.isNoDump(file) == false)
        for isSet in [true, true, false, false] {
            try live.setNoDump(isSet, of: file)
            #expect(try live.isNoDump(file) == isSet)
        }
    }

    @Test(.enabled(if: Volume.hasAttributes, "the temporary folder's file system has no attributes"))
    func anExtendedAttributeIsSetReplacedAndRemoved() throws {
        let file = try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        #expect(try live.extendedAttribute(Self.attribute, of: file) == nil)
        for value: [UInt8]? in [[1, 0, 255], [2], [], nil, nil] {
            try live.setExtendedAttribute(Self.attribute, to: value, of: file)
            #expect(try live.extendedAttribute(Self.attribute, of: file) == value)
        }
    }

    @Test(.enabled(if: Volume.hasAttributes, "the temporary folder's file system has no attributes"))
    func anExtendedAttributeOfSomeKilobytesIsReadWhole() throws {
        let value = [UInt8](repeating: 7, count: 3000)
        try live.setExtendedAttribute(Self.attribute, to: value, of: folder.descriptor)
        #expect(try live.extendedAttribute(Self.attribute, of: folder.descriptor) == value)
    }

    #if !canImport(Darwin)
        @Test func aFileSystemWithoutMarksSaysSo() throws {
            let file = try live.open("/proc/self/comm", in: .workingDirectory, .readWrite)
            defer { live.close(file) }
            #expect(throws: FileSystemError("set no-dump flag", errno: .inappropriateIOCTLForDevice)) {
                try live.setNoDump(true, of: file)
            }
            #expect(throws: FileSystemError("fsetxattr", errno: .notSupported)) {
                try live.setExtendedAttribute(Self.attribute, to: [1], of: file)
            }
        }
    #endif
}

/// What the file system of the temporary folder can do.
private enum Volume {
    static let hasNoDump = TemporaryFolder.can { file throws(FileSystemError) in
        try live.setNoDump(true, of: file)
    }
    static let hasAttributes = TemporaryFolder.can { file throws(FileSystemError) in
        try live.setExtendedAttribute(MarksTests.attribute, to: [1], of: file)
    }
}

import FileSystemTestSupport
import PrefetchFileSystem
import SystemPackage
import Testing

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
    static let hasNoDump = can { file throws(FileSystemError) in try live.setNoDump(true, of: file) }
    static let hasAttributes = can { file throws(FileSystemError) in
        try live.setExtendedAttribute(MarksTests.attribute, to: [1], of: file)
    }

    private static func can(_ call: (Descriptor) throws(FileSystemError) -> Void) -> Bool {
        do {
            let folder = try TemporaryFolder()
            try withExtendedLifetime(folder) { try call(folder.descriptor) }
            return true
        } catch {
            return false
        }
    }
}

import FileSystemTestSupport
import PrefetchFileSystem
import PrefetchStorageAreas
import Synchronization
import SystemPackage
import Testing

@Suite struct CacheDirectoryTagTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func theTagBeginsWithTheSignatureAndExplainsItself() throws {
        try CacheDirectoryTag.ensure(in: folder.descriptor, of: live)
        let lines = try #require(try folder.text(of: "CACHEDIR.TAG")).split(separator: "\n")
        #expect(lines.first == "Signature: 8a477f597d28d172789f06886806bc55")
        #expect(lines.first?.utf8.count == 43)
        #expect(lines.count == 3)
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("# ") })
        #expect(lines.last?.contains("https://bford.info/cachedir/") == true)
        #expect(try CacheDirectoryTag.isTagged(folder.descriptor, of: live))
        #expect(try folder.names() == ["CACHEDIR.TAG"])
    }

    @Test(arguments: ["", "mine", "Signature: 8a477f597d28d172789f06886806bc55\n# mine"])
    func whatIsThereIsNeverOverwritten(_ content: String) throws {
        try folder.write(content, to: "CACHEDIR.TAG")
        try CacheDirectoryTag.ensure(in: folder.descriptor, of: live)
        #expect(try folder.text(of: "CACHEDIR.TAG") == content)
    }

    @Test func nothingIsWrittenThroughALink() throws {
        try folder.link("CACHEDIR.TAG", to: "elsewhere")
        try CacheDirectoryTag.ensure(in: folder.descriptor, of: live)
        #expect(try folder.names() == ["CACHEDIR.TAG"])
    }

    @Test(arguments: [
        ("Signature: 8a477f597d28d172789f06886806bc55", true),
        ("Signature: 8a477f597d28d172789f06886806bc55 and more", true),
        ("Signature: 8a477f597d28d172789f06886806bc5", false),
        ("Signature: 8a477f597d28d172789f06886806bc56", false),
        (" Signature: 8a477f597d28d172789f06886806bc55", false),
        ("", false),
    ])
    func theSignatureDecidesWhetherAFolderIsTagged(_ content: String, _ isTagged: Bool) throws {
        try folder.write(content, to: "CACHEDIR.TAG")
        #expect(try CacheDirectoryTag.isTagged(folder.descriptor, of: live) == isTagged)
    }

    @Test func aLinkOrAFolderIsNoTag() throws {
        #expect(try CacheDirectoryTag.isTagged(folder.descriptor, of: live) == false)
        try folder.write("Signature: 8a477f597d28d172789f06886806bc55", to: "file")
        try folder.link("CACHEDIR.TAG", to: "file")
        #expect(try CacheDirectoryTag.isTagged(folder.descriptor, of: live) == false)
        try live.unlink("CACHEDIR.TAG", in: folder.descriptor)
        try folder.makeFolder("CACHEDIR.TAG")
        #expect(try CacheDirectoryTag.isTagged(folder.descriptor, of: live) == false)
    }

    @Test func aTagThatIsThereCostsOneCall() throws {
        // Any call but the one that finds it fails.
        try CacheDirectoryTag.ensure(in: .workingDirectory, of: TaggedFileSystem())
    }

    @Test func losingTheRaceAgainstAnotherProcessIsNoError() throws {
        try CacheDirectoryTag.ensure(in: .workingDirectory, of: FullFileSystem(open: .fileExists))
    }

    @Test func aTagThatCannotBeWrittenIsRemovedAgain() {
        let fileSystem = FullFileSystem(open: nil)
        #expect(throws: FileSystemError("write", errno: .noSpace)) {
            try CacheDirectoryTag.ensure(in: .workingDirectory, of: fileSystem)
        }
        #expect(fileSystem.removed == ["CACHEDIR.TAG"])
    }
}

/// Every name is a file already.
private struct TaggedFileSystem: UnimplementedFileSystem {
    func attributes(of _: FilePath, in _: Descriptor) -> FileAttributes? {
        FileAttributes(
            kind: .regular, identity: .init(device: 0, inode: 0), length: 0, allocated: 0, linkCount: 1,
            owner: 0,
            permissions: .ownerReadWrite, modified: 0)
    }
}

/// No name exists, files can be created unless `openError` is set, and there is no space.
private final class FullFileSystem: UnimplementedFileSystem {
    private let openError: Errno?
    private let names = Mutex<[FilePath]>([])

    init(open openError: Errno?) {
        self.openError = openError
    }

    var removed: [FilePath] { names.withLock { $0 } }

    func attributes(of _: FilePath, in _: Descriptor) -> FileAttributes? { nil }

    func open(_ name: FilePath, in _: Descriptor, _ mode: OpenMode) throws(FileSystemError) -> Descriptor {
        guard case .createNew = mode else { throw FileSystemError("open", errno: .noFunction) }
        if let openError { throw FileSystemError("open", path: name, errno: openError) }
        return Descriptor(rawValue: 9)
    }

    func write(_: UnsafeRawBufferPointer, to _: Descriptor, at _: Int64) throws(FileSystemError) -> Int {
        throw FileSystemError("write", errno: .noSpace)
    }

    func unlink(_ name: FilePath, in _: Descriptor) {
        names.withLock { $0.append(name) }
    }
}

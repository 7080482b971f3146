import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@Suite struct ReadWriteTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func whatIsWrittenAtAnOffsetIsReadThere() throws {
        let file = try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        try live.writeAll(Array("world".utf8), to: file, at: 6)
        try live.writeAll(Array("hello ".utf8), to: file, at: 0)
        #expect(try read(file, count: 100, at: 0, of: live) == Array("hello world".utf8))
        #expect(try read(file, count: 3, at: 6, of: live) == Array("wor".utf8))
        #expect(try read(file, count: 3, at: 11, of: live) == [])
    }

    #if os(Linux)
        /// The beginning of a longer file could be taken for all of it.
        @Test func onlyAWholeRegularFileIsReadFromMemory() throws {
            guard live.tellsWhatIsInMemory(folder.descriptor) else { return }
            try folder.write("content", to: "file")
            _ = try live.makeDirectory("folder", in: folder.descriptor, permissions: [.ownerReadWriteExecute])
            func readIfInMemory(_ name: FilePath, length: Int) throws -> String? {
                var buffer = [UInt8](repeating: 0, count: length)
                let count = try buffer.withUnsafeMutableBytes {
                    try live.readIfInMemory(name, in: folder.descriptor, into: $0)
                }
                return count.map { String(decoding: buffer.prefix($0), as: UTF8.self) }
            }
            #expect(try readIfInMemory("file", length: 100) == "content")
            #expect(try readIfInMemory("file", length: 7) == "content")
            #expect(try readIfInMemory("file", length: 6) == nil)
            #expect(try readIfInMemory("folder", length: 100) == nil)
        }
    #endif

    @Test func resizeCutsAndExtendsWithZeros() throws {
        let file = try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        try live.writeAll(Array("abcdef".utf8), to: file, at: 0)
        try live.resize(file, to: 2)
        try live.resize(file, to: 4)
        #expect(try read(file, count: 100, at: 0, of: live) == Array("ab\0\0".utf8))
    }

    @Test func writingToAFileOpenedForReadingFails() throws {
        try folder.write("old", to: "file")
        let file = try live.open("file", in: folder.descriptor, .read)
        defer { live.close(file) }
        #expect(throws: FileSystemError("write", errno: .badFileDescriptor)) {
            try live.writeAll([1], to: file, at: 0)
        }
        #expect(try folder.text(of: "file") == "old")
    }

    @Test func shortWritesAndReadsAreContinued() throws {
        let memory = MemoryFile(step: 3)
        let bytes = [UInt8](0..<100)
        try memory.writeAll(bytes, to: .workingDirectory, at: 0)
        #expect(memory.content == bytes)
        #expect(try read(.workingDirectory, count: 1000, at: 0, of: memory) == bytes)
        #expect(try read(.workingDirectory, count: 50, at: 20, of: memory) == Array(bytes[20..<70]))
    }

    @Test func aWriteThatTakesNothingIsAnErrorAndNoEndlessLoop() {
        #expect(throws: FileSystemError("write", errno: .ioError)) {
            try MemoryFile(step: 0).writeAll([1], to: .workingDirectory, at: 0)
        }
    }

    @Test func nothingToWriteNeedsNoCall() throws {
        try MemoryFile(step: 0).writeAll([UInt8](), to: .workingDirectory, at: 0)
    }

    private func read(_ file: Descriptor, count: Int, at offset: Int64, of fileSystem: any FileSystem)
        throws -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0xAA, count: count)
        let done = try bytes.withUnsafeMutableBytes { try fileSystem.readAll(file, into: $0, at: offset) }
        return Array(bytes.prefix(done))
    }
}

@Suite struct ReplaceContentsTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: [false, true])
    func theFileIsCreatedAndThenReplaced(durable: Bool) throws {
        for text in ["a first, longer content", "second"] {
            try live.replaceContents(
                of: "note", in: folder.descriptor, with: Array(text.utf8), permissions: .ownerReadWrite,
                durable: durable)
            #expect(try folder.text(of: "note") == text)
        }
        #expect(try folder.names() == ["note"])
        let attributes = try live.attributes(of: "note", in: folder.descriptor)
        #expect(attributes?.permissions == .ownerReadWrite)
    }

    @Test func whatADeadWriterLeftBehindIsNoObstacle() throws {
        try folder.write("half of a longer cont", to: ".note.new")
        try live.replaceContents(
            of: "note", in: folder.descriptor, with: Array("new".utf8), permissions: .ownerReadWrite,
            durable: false)
        #expect(try folder.text(of: "note") == "new")
        #expect(try folder.names() == ["note"])
    }

    @Test func aReaderSeesTheOldContentOrTheNew() throws {
        let contents = [[UInt8](repeating: 1, count: 300_000), [UInt8](repeating: 2, count: 200_000)]
        @Sendable func replace(_ round: Int) throws {
            try live.replaceContents(
                of: "note", in: folder.descriptor, with: contents[round % 2],
                permissions: .ownerReadWrite, durable: false)
        }
        try replace(0)
        let writer = BackgroundThread { for round in 0..<200 { try replace(round) } }
        while writer.isRunning {
            let seen = try live.contents(of: "note", in: folder.descriptor, limit: 1_000_000)
            #expect(contents.contains(seen ?? []), "\(seen?.count ?? 0) bytes")
        }
        try writer.join()
    }

    @Test func durableContentIsSynchronisedBeforeItsNameAndTheFolderAfterIt() throws {
        let calls = CallList()
        try calls.replace(durable: true)
        #expect(calls.list == ["open", "write", "synchronize file", "rename", "synchronize folder"])
    }

    @Test func contentThatNeedNotBeDurableIsNotSynchronised() throws {
        let calls = CallList()
        try calls.replace(durable: false)
        #expect(calls.list == ["open", "write", "rename"])
    }

    /// What a call on a descriptor does not name, the error does.
    @Test(
        arguments: [("open", nil), ("write", "note"), ("synchronize file", "note")] as [(String, FilePath?)])
    func afterAFailureTheOldFileKeepsItsName(_ call: String, path: FilePath?) {
        let calls = CallList(failing: call)
        #expect(throws: FileSystemError(call, path: path, errno: .noSpace)) {
            try calls.replace(durable: true)
        }
        #expect(calls.list.last == call)
    }
}

/// Notes the calls that change something; one of them may fail.
private final class CallList: UnimplementedFileSystem {
    private static let folder = Descriptor(rawValue: 1)
    private static let file = Descriptor(rawValue: 2)

    private let failing: String?
    private let calls = Mutex<[String]>([])

    init(failing: String? = nil) {
        self.failing = failing
    }

    var list: [String] { calls.withLock { $0 } }

    func replace(durable: Bool) throws(FileSystemError) {
        try replaceContents(
            of: "note", in: Self.folder, with: [1], permissions: .ownerReadWrite, durable: durable)
    }

    private func note(_ call: String) throws(FileSystemError) {
        calls.withLock { $0.append(call) }
        if call == failing { throw FileSystemError(call, errno: .noSpace) }
    }

    func attributes(of _: FilePath, in _: Descriptor) -> FileAttributes? { nil }

    func open(_: FilePath, in _: Descriptor, _: OpenMode) throws(FileSystemError) -> Descriptor {
        try note("open")
        return Self.file
    }

    func write(_ bytes: UnsafeRawBufferPointer, to _: Descriptor, at _: Int64)
        throws(FileSystemError) -> Int
    {
        try note("write")
        return bytes.count
    }

    func synchronize(_ descriptor: Descriptor) throws(FileSystemError) {
        try note(descriptor == Self.folder ? "synchronize folder" : "synchronize file")
    }

    func rename(_: FilePath, in _: Descriptor, to _: FilePath, in _: Descriptor, _: RenameMode)
        throws(FileSystemError)
    { try note("rename") }
}

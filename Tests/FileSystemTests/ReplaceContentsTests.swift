import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

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

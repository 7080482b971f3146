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

/// One file in memory, of which a call reads or writes at most `step` bytes.
private final class MemoryFile: UnimplementedFileSystem {
    private let step: Int
    private let bytes = Mutex<[UInt8]>([])

    init(step: Int) {
        self.step = step
    }

    var content: [UInt8] { bytes.withLock { $0 } }

    func write(_ new: UnsafeRawBufferPointer, to _: Descriptor, at offset: Int64) -> Int {
        let part = new.prefix(step)
        bytes.withLock { $0.replaceSubrange(Int(offset)..<$0.count, with: part) }
        return part.count
    }

    func read(_: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        let part = content.dropFirst(Int(offset)).prefix(min(step, buffer.count))
        buffer.copyBytes(from: part)
        return part.count
    }
}

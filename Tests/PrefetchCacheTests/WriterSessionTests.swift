import FileSystem
import FileSystemTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCache

/// A process's place among the writers.
@Suite struct WriterSessionTests {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    @Test func aBoundThatCannotBeReadNamesItsFile() throws {
        let engine = try container.engine()
        try engine.store(noise(100), "key")
        let name = "\(engine.environment.session).lock"
        try Data(repeating: 1, count: 16).write(
            to: container.caches.appending(path: "incoming/\(name)"), options: [])
        let error = try #require(throws: FileSystemError.self) {
            try WriterSession.bounds(in: engine.folders.current.incoming)
        }
        #expect(error.path == FilePath(name))
    }

    @Test(arguments: [FileSystemTestSupport.Operation.Kind.lock, .attributes])
    func aLockThatCannotBeTakenLeavesNoFileOpen(call: FileSystemTestSupport.Operation.Kind) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let before = fileSystem.openFiles
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind == call, operation.name.hasSuffix(".lock") else { return }
            throw FileSystemError(call.rawValue, errno: .ioError)
        }
        #expect(throws: CacheError.self) { try engine.store(noise(100), "key") }
        #expect(fileSystem.openFiles == before)
    }
}

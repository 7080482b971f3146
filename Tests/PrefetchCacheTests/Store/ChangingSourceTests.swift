import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A file that is stored is stored as it was at one moment, or not at all.
@Suite struct ChangingSourceTests {
    enum Change: CaseIterable {
        case overwritten, grown, shortened
    }

    @Test(arguments: Change.allCases) func aFileThatIsWrittenToMeanwhileIsRefused(_ change: Change) throws {
        let container = try TemporaryContainer()
        let source = container.root.appending(path: "source")
        try noise(9 << 20).write(to: source)
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let reads = Atomic(0)
        let path = FilePath(source.path)
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind == .read, operation.name.hasSuffix("source"),
                reads.add(1, ordering: .relaxed).newValue == 2
            else { return }
            let live = LiveFileSystem()
            try live.withFile(path, in: .workingDirectory, .readWrite) { file throws(FileSystemError) in
                switch change {
                case .overwritten: try live.writeAll([1], to: file, at: 0)
                case .grown: try live.writeAll([1], to: file, at: 9 << 20)
                case .shortened: try live.resize(file, to: 6 << 20)
                }
            }
        }
        #expect(throws: CacheError.fileChanged(source.path)) {
            try engine.store(contentsOf: FilePath(source.path), as: ItemMetadata("key"), encoding: .automatic)
        }
        #expect(try engine.items().isEmpty)
        fileSystem.intercept { _ in }
        let stored = try engine.store(
            contentsOf: FilePath(source.path), as: ItemMetadata("key"), encoding: .automatic)
        #expect(stored.isStored)
        try engine.close()
    }
}

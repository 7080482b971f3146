import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A volume on which no file can be marked as not to be backed up.
@Suite struct NoMarksTests {
    @Test func anOpenedFileIsNotReadAgainForAMarkThatItCannotHave() throws {
        let container = try TemporaryContainer()
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let bytes = CallCounter()
        fileSystem.intercept { operation throws(FileSystemError) in
            switch operation.kind {
            case .extendedAttribute, .noDump: throw FileSystemError("fsetxattr", errno: .notSupported)
            case .read where operation.count > 4096: _ = bytes.next()
            default: break
            }
        }
        let content = noise(3 << 20)
        let metadata = ItemMetadata(key: "key", destination: .documents("Film.bin", backup: .exclude))
        try engine.store(content, as: metadata)
        #expect(try engine.open("key").value?.isFirstOpen == true)
        let before = bytes.next()
        for _ in 0..<3 { #expect(try engine.open("key").value?.isFirstOpen == false) }
        #expect(bytes.next() == before + 1)
    }
}

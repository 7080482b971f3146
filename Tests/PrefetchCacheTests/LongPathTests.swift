import FileSystem
import Foundation
import StorageAreas
import SystemPackage
import Testing

@testable import PrefetchCache

/// SQLite opens no file whose path, with all links followed, has more than 512 bytes.
@Suite struct LongPathTests {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    /// The longest path of a container in which SQLite finds room for the longest path that it needs.
    private var longest: Int {
        512 - "/Library/Application Support/PrefetchCache/ledger.sqlite-journal".utf8.count
    }

    /// A folder whose path has so many bytes, with all links followed.
    private func folder(_ length: Int) throws -> URL {
        var folder = container.root.resolvingSymlinksInPath()
        while folder.path.utf8.count < length {
            // The separator is one byte, and no name is empty.
            let rest = length - folder.path.utf8.count - 1
            folder.append(path: String(repeating: "d", count: rest > 200 ? 100 : rest))
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(folder.path.utf8.count == length)
        return folder
    }

    @Test func theLongestThatIsAcceptedWorks() throws {
        let folder = try folder(longest)
        let engine = try container.engine(areas: .container(at: folder))
        try engine.store(noise(100), "k")
        #expect(try engine.open("k").value?.isFirstOpen == true)
        #expect(try engine.statistics().promotions == 1)
        try engine.close()
    }

    @Test(arguments: [false, true])
    func aLongerOneIsRefusedByNameAndNothingIsCreated(_ isLink: Bool) throws {
        let folder = try folder(longest + 1)
        var path = folder
        if isLink {
            path = container.root.appending(path: "link")
            try FileManager.default.createSymbolicLink(at: path, withDestinationURL: folder)
        }
        let areas = try StorageAreas.container(at: path)
        let root = areas.applicationSupport.appending("PrefetchCache")
        let error = #expect(throws: CacheError.self) { _ = try container.engine(areas: areas) }
        #expect(error == .pathTooLong(root, limit: 512))
        #expect(error?.description.contains("a container with a shorter path") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}

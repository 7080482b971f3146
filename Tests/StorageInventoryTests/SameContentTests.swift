import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import StorageInventory

/// One content in two places, and how much is read to find that out.
@Suite struct SameContentTests {
    let container: SampleContainer

    init() throws {
        container = try SampleContainer()
    }

    /// As large as a chunk and a bit, and different from one seed to the next from the first byte on, or only at
    /// the end.
    private func large(_ seed: UInt8, differingAtEnd: Bool = false) -> Data {
        var data = Data(repeating: 7, count: (1 << 20) + 5000)
        data[differingAtEnd ? data.count - 1 : 0] = seed
        return data
    }

    private func write(_ seeds: Range<UInt8>, differingAtEnd: Bool = false) throws {
        for seed in seeds {
            try container.write(
                large(seed, differingAtEnd: differingAtEnd), to: "Library/Application Support/data/\(seed)")
        }
    }

    /// What is found, and how many bytes were asked for and files held open for it at most.
    private func check() throws -> (findings: [Finding], bytesRead: Int, openFiles: Int) {
        let inventory = try container.inventory()
        let log = OperationLog()
        let fileSystem = InterceptingFileSystem(isOutside: true)
        let open = Mutex(0)
        fileSystem.intercept { [unowned fileSystem] operation in
            log.add(operation)
            let count = fileSystem.openFiles
            open.withLock { $0 = max($0, count) }
        }
        let (findings, problems) = Checkup.run(on: inventory, .init(now: .now), in: fileSystem)
        #expect(problems == [])
        let bytes = log.operations.reduce(0) { $0 + ($1.kind == .read ? $1.count : 0) }
        return (findings, bytes, open.withLock { $0 })
    }

    private func store(_ contents: [Data]) async throws {
        let cache = try await container.cache()
        for (number, content) in contents.enumerated() {
            let key = try ItemKey("\(number)")
            let metadata = ItemMetadata(
                key: key,
                destination: .applicationSupport(FileName(sanitizing: "\(number).bin"), backup: .include))
            guard case .stored = try await cache.store(content, as: metadata, encoding: .forced(.identity))
            else { throw SampleContainer.Unexpected() }
        }
        try await cache.close()
    }

    @Test func filesThatBeginDifferentlyAreNotReadWhole() throws {
        try write(0..<20)
        let (findings, bytesRead, openFiles) = try check()
        #expect(findings == [])
        #expect(bytesRead <= 20 * 4096)
        #expect(openFiles < 10)
    }

    @Test func filesThatDifferInTheEndAreToldApart() throws {
        try write(0..<3, differingAtEnd: true)
        #expect(try check().findings == [])
        try container.write(
            large(1, differingAtEnd: true), to: "Library/Application Support/other/again")
        let found = try check().findings
        #expect(found.map(\.rule.name) == ["same-content-twice"])
        #expect(found.first?.files == 2)
    }

    @Test func itemsAreComparedByTheirFooters() async throws {
        try await store((0..<10).map { large(UInt8($0)) })
        let (findings, bytesRead, _) = try check()
        #expect(findings == [])
        // A look at the beginning and at the end of each.
        #expect(bytesRead <= 10 * (256 << 10))
    }

    @Test func anItemAndAFileWithOneContentAreFound() async throws {
        try await store((0..<3).map { large(UInt8($0)) })
        try container.write(large(2), to: "Library/Application Support/data/one")
        // More files than items, and fewer.
        #expect(try check().findings.map(\.files) == [2])
        try write(10..<20)
        let (findings, bytesRead, _) = try check()
        #expect(findings.map(\.files) == [2])
        // Nothing but the one file is read whole.
        #expect(bytesRead <= 6 << 20)
    }
}

import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct VerificationTests {
    private let container = TemporaryContainer.make()

    /// By the clock that also stamps the files.
    private func engine(_ fileSystem: any FileSystem = LiveFileSystem()) throws -> Engine {
        try container.engine(fileSystem: fileSystem, now: { Int64(Date().timeIntervalSince1970 * 1000) })
    }

    private func verify(
        _ engine: Engine, _ request: VerificationRequest = VerificationRequest(),
        isCancelled: @escaping @Sendable () -> Bool = { false },
        report: (@Sendable (VerificationProgress) -> Void)? = nil
    ) throws -> VerificationReport {
        try Verifier(engine, request, isCancelled: isCancelled, report: report).run()
    }

    private func flipByte(of file: URL, at offset: Int) throws {
        let modified = try #require(try file.attributes).modified
        try file.flipByte(at: offset)
        // As a device does that forgets: nobody has written to the file.
        try file.setModified(Double(modified) / 1e9)
    }

    private typealias Call = FileSystemTestSupport.Operation.Kind

    @Test(arguments: [VerificationRequest(), VerificationRequest(sample: 8)], [Call.open, .entries])
    private func oneUnreadableFolderDoesNotEndTheWalk(_ request: VerificationRequest, _ failing: Call) throws
    {
        let first = try engine()
        let keys = try (0..<8).map { try ItemKey(number: $0) }
        for key in keys { try first.store(noise(1000), key) }
        try first.close()
        let folder = CacheLayout.folder(of: keys[0].hash).string
        let path = "/items/\(folder)"
        let engine = try engine(
            InterceptingFileSystem { operation throws(FileSystemError) in
                guard operation.kind == failing, let found = operation.path,
                    found.hasSuffix(path) || found.contains("\(path)/")
                else { return }
                throw FileSystemError("read", errno: .permissionDenied)
            })
        let inFolder = keys.filter { CacheLayout.folder(of: $0.hash).string == folder }
        let report = try verify(engine, request)
        let unreadable = report.findings.filter { $0.key == nil }
        #expect(unreadable.map(\.location) == [.ours(CacheLayout.items.appending(folder), in: .caches)])
        #expect(
            unreadable.map(\.verdict) == [
                .unreadable(.fileSystem(FileSystemError("read", errno: .permissionDenied)))
            ])
        // Items that the catalog knows there are tried all the same.
        #expect(Set(report.findings.compactMap(\.key)) == (failing == .open ? Set(inFolder) : []))
        #expect(report.verifiedItems == (failing == .open ? keys.count - inFolder.count : keys.count))
        #expect(report.isComplete)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func everyByteOfEveryItemIsRead(_ encoding: ItemEncoding) throws {
        let engine = try engine()
        let contents = (0..<8).map { prose(100_000 * $0 * $0 + 1, seed: UInt64($0)) }
        for (number, content) in contents.enumerated() {
            try engine.store(content, ItemKey(number: number), encoding: .forced(encoding))
        }
        try engine.flush()
        let report = try verify(engine)
        #expect(report.verifiedItems == 8)
        #expect(report.bytes == contents.reduce(0) { $0 + Int64($1.count) })
        #expect(report.findings.isEmpty && report.isComplete)
        // Wherever a byte of the content lies.
        let key = try ItemKey(number: 7)
        let image = try Data(contentsOf: container.item(key))
        for offset in stride(from: 11, to: image.count, by: image.count / 23) {
            try flipByte(of: container.item(key), at: offset)
            let finding = try #require(try verify(engine).findings.first, "at \(offset)")
            guard case .damaged = finding.verdict else {
                Issue.record("\(finding) at \(offset)")
                continue
            }
            try image.write(to: container.item(key))
        }
    }

    @Test(arguments: [true, false]) func aCatalogThatIsTakenMeanwhileCostsNoVerdict(isEmptied: Bool) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try engine(fileSystem)
        for number in 0..<20 { try engine.store(noise(1000), ItemKey(number: number)) }
        try engine.flush()
        let catalog = container.catalog
        fileSystem.intercept { operation in
            // The folders of items are listed one by one, after what the catalog knows of each.
            guard operation.kind == .entries else { return }
            attempt { try isEmptied ? Data().write(to: catalog) : catalog.remove() }
        }
        let report = try verify(engine)
        #expect(report.verifiedItems == 20)
        #expect(report.findings.isEmpty && report.isComplete)
    }

    @Test func aDamagedItemStaysWhereItIsUnlessItIsToBeRepaired() throws {
        let engine = try engine()
        try engine.store(noise(50_000), "k", encoding: .forced(.identity))
        try flipByte(of: container.item("k"), at: 1234)
        let report = try verify(engine)
        #expect(report.damaged == 1 && report.quarantined == 0 && report.verifiedItems == 0)
        #expect(report.findings.first?.key == "k")
        #expect(container.item("k").exists)
        #expect(try engine.statistics().quarantinedItems == 0)

        let repaired = try verify(engine, VerificationRequest(isRepairing: true))
        #expect(repaired.damaged == 1 && repaired.quarantined == 1)
        #expect(!container.item("k").exists)
        #expect(try engine.statistics().quarantinedItems == 1)
        #expect(try verify(engine).findings.isEmpty)
    }

    @Test func itIsNoUse() throws {
        let engine = try engine()
        for number in 0..<5 { try engine.store(prose(2000), ItemKey(number: number)) }
        try engine.store(prose(2000), "opened")
        _ = try engine.open("opened")
        let (items, statistics) = (try engine.items(), try engine.statistics())
        let opened = FilePath(container.document("opened").path)
        let live = LiveFileSystem()
        func accessTime() throws -> Int64? {
            try live.withFile(opened, in: .workingDirectory, .readWithoutAccessTime) {
                file throws(FileSystemError) in
                try live.accessTime(of: file)
            }
        }
        // Long ago, so that the kernel would note the next reading.
        try container.document("opened").setAccessed(1_000_000_000)
        #expect(try verify(engine).verifiedFiles == 1)
        #expect(try engine.items() == items)
        #expect(try engine.statistics() == statistics)
        #if os(Linux)
            #expect(try accessTime() == 1_000_000_000)
        #endif
    }

    @Test func anItemIsLeasedWhileItIsReadAndNoLonger() throws {
        let evicted = Mutex<[Bool]>([])
        let fileSystem = InterceptingFileSystem()
        let engine = try engine(fileSystem)
        try engine.store(noise(3 << 20), "k", encoding: .forced(.identity))
        try engine.flush()
        let other = try self.engine()
        let name = CacheLayout.file(of: ItemKey("k").hash).string
        fileSystem.intercept { operation in
            guard operation.kind == .read, operation.name == name, operation.offset > 0 else { return }
            do {
                let freed = try other.evict(.max)
                evicted.withLock { $0.append(freed > 0) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try verify(engine).verifiedItems == 1)
        #expect(evicted.withLock { !$0.isEmpty && !$0.contains(true) })
        #expect(try other.evict(.max) > 0)
    }

    @Test func aRowWithoutAFileIsMissing() throws {
        let engine = try engine()
        for key in ["gone", "purged", "there"] as [ItemKey] { try engine.store(prose(900), key) }
        try engine.flush()
        try container.item("gone").remove()
        try Data().write(to: container.item("purged"))
        let report = try verify(engine)
        #expect(report.missing == 2 && report.verifiedItems == 1 && report.damaged == 0)
        #expect(Set(report.findings.compactMap(\.key)) == ["gone", "purged"])
        _ = try verify(engine, VerificationRequest(isRepairing: true))
        #expect(try engine.statistics().items == 1)
        #expect(try verify(engine).findings.isEmpty)
    }

    // MARK: Promoted files

    private func promoted() throws -> (engine: Engine, file: URL) {
        let engine = try engine()
        try engine.store(prose(50_000), "Doc.txt")
        return (engine, URL(filePath: try #require(try engine.open("Doc.txt").value).path.string))
    }

    @Test func aPromotedFileIsComparedWithTheLedger() throws {
        let (engine, file) = try promoted()
        #expect(try verify(engine).verifiedFiles == 1)
        try flipByte(of: file, at: 40_000)
        let report = try verify(engine, VerificationRequest(isRepairing: true))
        #expect(report.damaged == 1 && report.modified == 0 && report.quarantined == 0)
        #expect(report.findings.first?.isPromoted == true)
        #expect(file.exists, "it is its user's all the same")
    }

    @Test func whatItsUserHasChangedIsModifiedAndWhatIsGoneIsMissing() throws {
        let (engine, file) = try promoted()
        try file.overwrite(Data("changed".utf8))
        try file.setModified(Date.now.timeIntervalSince1970 + 60)
        #expect(try verify(engine).modified == 1)
        try file.remove()
        // The inode may be the same.
        try prose(50_000, seed: 3).write(to: file)
        #expect(try verify(engine).modified == 1)
        try file.remove()
        try file.makeLink(to: URL(filePath: "/etc/passwd"))
        #expect(try verify(engine).modified == 1)
        try file.remove()
        let report = try verify(engine)
        #expect(report.missing == 1 && report.damaged == 0)
    }

    @Test func whatIsOnlyInICloudIsNeitherReadNorDamaged() throws {
        let device = AppleVolume()
        let reads = Mutex(0)
        let fileSystem = InterceptingFileSystem(of: device) { operation in
            if operation.kind == .read, operation.name == "Doc.txt" { reads.withLock { $0 += 1 } }
        }
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(50_000), "Doc.txt")
        let file = try #require(try engine.open("Doc.txt").value).path
        #expect(try verify(engine).verifiedFiles == 1)
        let read = reads.withLock { $0 }
        #expect(read > 0)
        device.evict(try #require(try live.attributes(of: file, in: .workingDirectory)).identity)
        let report = try verify(engine, VerificationRequest(isRepairing: true))
        #expect(report.notOnDevice == 1 && report.findings.count == 1 && report.verifiedFiles == 0)
        #expect(reads.withLock { $0 } == read)
    }

    // MARK: Samples, progress and the end

    @Test func aSampleFollowsFromItsSeed() throws {
        let engine = try engine()
        for number in 0..<60 { try engine.store(prose(100, seed: UInt64(number)), ItemKey(number: number)) }
        for number in 0..<60 { try flipByte(of: container.item(ItemKey(number: number)), at: 9) }
        try engine.flush()
        func sample(_ seed: UInt64) throws -> Set<ItemKey> {
            let report = try verify(engine, VerificationRequest(sample: 20, seed: seed))
            #expect(report.findings.count == 20)
            return Set(report.findings.compactMap(\.key))
        }
        let first = try sample(1)
        #expect(try sample(1) == first)
        let all = try (1...24).reduce(into: Set<ItemKey>()) { try $0.formUnion(sample($1)) }
        #expect(all.count == 60, "every item is in some sample")
    }

    @Test func cancellingEndsItWithWhatWasFound() throws {
        let engine = try engine()
        for number in 0..<20 {
            try engine.store(noise(2 << 20, seed: UInt64(number)), ItemKey(number: number))
        }
        let bytes = Atomic<Int64>(0)
        let report = try verify(
            engine, isCancelled: { bytes.load(ordering: .relaxed) > 8 << 20 },
            report: { bytes.store($0.bytes, ordering: .relaxed) })
        #expect(!report.isComplete)
        #expect(report.verifiedItems < 20 && report.findings.isEmpty)
    }

    @Test func itTellsHowFarItHasCome() throws {
        let engine = try engine()
        for number in 0..<4 { try engine.store(prose(500_000), ItemKey(number: number)) }
        try engine.flush()
        let last = Mutex<VerificationProgress?>(nil)
        _ = try verify(engine, report: { progress in last.withLock { $0 = progress } })
        let progress = try #require(last.withLock { $0 })
        #expect(progress.totalFiles == 4 && progress.totalBytes == 2_000_000)
    }

    @Test func somebodyElsesFilesAreLeftAlone() throws {
        let engine = try engine()
        try engine.store(prose(100), "k")
        let items = container.item("k").deletingLastPathComponent()
        let foreign = ["note.txt", "0000", ItemKey("k").hash.hexadecimal.uppercased()]
        for name in foreign { try Data("mine".utf8).write(to: items.appending(path: name)) }
        let report = try verify(engine, VerificationRequest(isRepairing: true))
        #expect(report.verifiedItems == 1 && report.findings.isEmpty)
        for name in foreign {
            #expect(try Data(contentsOf: items.appending(path: name)) == Data("mine".utf8))
        }
    }

    @Test func withoutACatalogTheItemsAreReadAllTheSame() throws {
        let engine = try engine()
        for number in 0..<3 { try engine.store(prose(100), ItemKey(number: number)) }
        try engine.close()
        try container.catalog.remove()
        let next = try self.engine()
        #expect(try verify(next).verifiedItems == 3)
        #expect(!container.catalog.exists, "nothing is changed")
    }

    @Test(arguments: [Int.max, .max / 2, 5_000_000_000_000_000_000])
    func aSampleMayBeLargerThanAnyCache(count: Int) {
        var sample = RandomSample<Int>(count)
        for number in 0..<3000 { sample.offer(number, rank: UInt64(number)) }
        #expect(sample.elements == Array(0..<3000))
    }
}

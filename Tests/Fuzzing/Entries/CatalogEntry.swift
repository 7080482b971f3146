import FileSystemTestSupport
import Foundation
import Logging
import PrefetchFileSystem
import PrefetchItemFormat
import PrefetchStorageAreas
import PrefetchVolumeCapacity
import SystemPackage

@testable import PrefetchCaching

/// A folder of items whose catalog is gone: the rebuild, and what it makes of what it finds.
///
/// The input is a number of files, each behind its length in two bytes and one that says where it goes.
func fuzzCatalog(_ input: [UInt8]) throws {
    let folder = try FuzzedContainer()
    defer { folder.remove() }
    try folder.fill(from: input)
    let engine = try folder.engine()
    let items = try engine.items()
    let statistics = try engine.statistics()
    // Those that have expired are counted, since they are charged, but not listed.
    let catalogued = try engine.catalog.reading { try $0.items() }
    try require(statistics.items == catalogued.count, "the count is that of the catalog")
    let lasting = catalogued.filter { $0.expiresAt ?? .max > fuzzedNow }
    try require(items.map(\.key) == lasting.map(\.key), "and what has not expired is listed")
    try require(statistics.chargedBytes == folder.charged(), "what is charged is what is there")
    for item in items {
        try require(item.contentBytes >= 0 && item.storedBytes > 0, "lengths are lengths")
        switch try engine.read(item.key, nil) {
        case .hit(let content):
            try require(Int64(content.count) == item.contentBytes, "an item has the length that is listed")
        case .miss(.damaged), .miss(.expired): break
        case .miss(let miss):
            throw BrokenProperty(description: "a listed item is there or damaged, not: \(miss)")
        }
    }
    _ = try engine.evict(1)
    try require(try engine.statistics().chargedBytes == folder.charged(), "and is so after an eviction")
    try engine.close()
}

private let fuzzedNow: Int64 = 1_700_000_000_000

/// An app's container in a folder of its own.
private struct FuzzedContainer {
    private let root: URL
    private let caches: URL

    init() throws {
        root = FileManager.default.temporaryDirectory.appending(
            path: "PrefetchCacheFuzzing-\(UUID().uuidString)")
        caches = root.appending(path: "Library/Caches/PrefetchCache")
        try FileManager.default.createDirectory(
            at: caches, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func remove() {
        do { try FileManager.default.removeItem(at: root) } catch { print("left behind: \(error)") }
    }

    /// Files of items, kept partials and journals, under names of ours.
    func fill(from input: [UInt8]) throws {
        var rest = input[...]
        var number: UInt64 = 0
        while rest.count >= 3, number < 8 {
            let length = Int(rest.removeFirst()) | Int(rest.removeFirst()) << 8
            let place = rest.removeFirst()
            let bytes = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            number += 1
            try write(bytes, to: place, number)
        }
    }

    private func write(_ bytes: [UInt8], to place: UInt8, _ number: UInt64) throws {
        let sealed = place & 1 == 1 ? Seal.item(bytes) : bytes
        // Under the name that its key has, if it has one, or another.
        let hash = place & 2 == 2 ? key(in: sealed)?.hash : nil
        let name = (hash ?? KeyHash(high: number << 56 | UInt64(place), low: number)).hexadecimal
        let path =
            switch place >> 2 & 3 {
            case 0, 1: "items/\(name.prefix(2))/\(name)"
            case 2: "quarantine/\(name)"
            default: "incoming/\(name)" + (place & 16 == 16 ? ".chunks" : "")
            }
        let file = caches.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try Data(path.hasSuffix(".chunks") ? Seal.journal(bytes) : sealed).write(to: file)
    }

    private func key(in bytes: [UInt8]) -> ItemKey? {
        do {
            return try ItemReader(
                MemoryFile.descriptor, of: MemoryFile(bytes), codecs: CodecPool(parallelism: 1)
            ).footer.metadata.key
        } catch {
            return nil
        }
    }

    func engine() throws -> Engine {
        try Engine(
            areas: .container(at: root),
            environment: CacheEnvironment(
                fileSystem: LiveFileSystem(), now: { fuzzedNow }, uptime: { .seconds(1) },
                probe: FixedVolumeProbe(VolumeState(total: 1 << 40, available: 1 << 39)),
                session: "0123456789abcdef", bootIdentifier: "boot", parallelism: 1,
                logger: Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() })))
    }

    /// What the files are charged, walked and added up.
    func charged() throws -> Int64 {
        let charge = ChargedLength(blockSize: try LiveFileSystem().withDirectory(caches).blockSize)
        var sum: Int64 = 0
        for place in ["items", "quarantine", "incoming"] {
            let folder = caches.appending(path: place)
            guard FileManager.default.fileExists(atPath: folder.path) else { continue }
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            where !name.hasSuffix(".lock") {
                // A lone journal is removed, or, of a newer version, left alone and not charged.
                if name.hasSuffix(".chunks"),
                    !FileManager.default.fileExists(
                        atPath: folder.appending(path: String(name.dropLast(7))).path)
                {
                    continue
                }
                let path = FilePath(folder.appending(path: name).path)
                // What is set aside takes an inode even when nothing is left in it.
                guard let file = try LiveFileSystem().attributes(of: path, in: .workingDirectory),
                    file.kind == .regular, file.length > 0 || place == "quarantine"
                else { continue }
                sum += charge(storedBytes: file.length)
            }
        }
        return sum
    }
}

extension LiveFileSystem {
    fileprivate func withDirectory(_ folder: URL) throws -> VolumeFigures {
        let descriptor = try open(FilePath(folder.path), in: .workingDirectory, .directory)
        defer { close(descriptor) }
        return try volume(of: descriptor)
    }
}

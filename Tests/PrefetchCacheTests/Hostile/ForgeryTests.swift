import FileSystemTestSupport
import Foundation
import ItemFormatTestSupport
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

extension ForgedItem {
    /// A sound item of a key that nothing is stored under.
    static var other: ForgedItem {
        var item = ForgedItem(content: Array("other".utf8))
        item.set(1, to: Array("other".utf8))
        return item
    }
}

/// Files whose checksums are right and whose claims are not, and files of a version to come.
@Suite struct HostileForgeryTests {
    private static let content = prose(1000)

    @Test func noForgedClaimIsBelieved() throws {
        let rig = try DamageRig("damage.forged-footers", content: Self.content, encoding: .forced(.identity))
        let forgeries = Forgery.fields + Forgery.chunkTables + Forgery.trailers
        for index in chosen(forgeries.indices, atMost: 30) {
            let forgery = forgeries[index]
            try rig.write(forgery.image(of: [UInt8](Self.content)))
            try rig.attack(forgery.description)
        }
        try rig.finish()
    }

    /// The files are holes: their lengths are all that they claim. One that begins with a hole was emptied.
    @Test func aGiantFileIsNoGiantAllocation() throws {
        let rig = try DamageRig("damage.sparse-giants", content: Self.content, encoding: .forced(.identity))
        for length in [1 << 20, 1 << 30, 64 << 30, 1 << 40] as [UInt64] {
            try rig.write([])
            try rig.truncate(to: length)
            try rig.attack("\(length) zeroes")
            try rig.write(rig.image)
            try rig.truncate(to: length)
            try rig.attack("an item and a hole up to \(length)")
        }
        for encoding in [ItemEncoding.lz4, .identity] {
            for question in [.open, .range, .stream, .verify] as [DamageRig.Question] {
                try rig.writeHole(before: Self.giant(encoding))
                try rig.attack("64 GiB as \(encoding)", asking: [question], expecting: [.purged])
            }
        }
        try rig.finish()
    }

    /// An item may be longer than memory. Asked for as a whole it is an error, and not the end of the process.
    /// (Where there is so much memory, it is found purged.)
    @Test func moreThanMemoryIsAnErrorAndNoTrap() throws {
        let rig = try DamageRig(
            "damage.longer-than-memory", content: Self.content, encoding: .forced(.identity))
        for encoding in [ItemEncoding.lz4, .identity] {
            try rig.writeHole(before: Self.giant(encoding))
            try rig.attack("64 GiB as \(encoding)", asking: [.read], expecting: [.noMemory, .purged])
        }
        try rig.finish()
    }

    /// The longest item that there can be, whose checksums are wrong. Only its footer is not a hole.
    private static func giant(_ encoding: ItemEncoding) -> ForgedItem {
        var item = ForgedItem(content: [])
        item.encoding = encoding.rawValue
        item.contentBytes = ItemLimits.contentBytes
        // LZ4 packs at most 255 bytes into one.
        let storedBytes: UInt32 = encoding == .lz4 ? 4200 : 1 << 20
        item.setChunks(Array(repeating: (storedBytes, 0), count: 1 << 16))
        item.claimedStoredLength = UInt64(storedBytes) << 16 + UInt64(item.image.count)
        return item
    }

    // MARK: Versions

    @Test func anItemOfAVersionToComeIsLeftAlone() throws {
        let rig = try DamageRig("damage.newer-versions", content: Self.content, encoding: .forced(.identity))
        for version in [2, 3, 255, 256, UInt16.max] as [UInt16] {
            var item = ForgedItem(content: [UInt8](Self.content))
            item.version = version
            for isLong in [false, true] {
                if isLong { item.fields.append(.init(tag: 8, value: [UInt8](repeating: 0, count: 2 << 20))) }
                try rig.write(item.image)
                try rig.attack("version \(version)", expecting: [.newer])
                #expect(try rig.isIntact(item.image))
            }
        }
        var critical = ForgedItem(content: [UInt8](Self.content))
        critical.fields.append(.init(tag: 0x8009, value: []))
        try rig.write(critical.image)
        try rig.attack("a field that must be understood", expecting: [.newer])
        try rig.finish()
    }

    /// Whatever is written over the length and the version of a trailer: nothing but a whole newer item is one.
    @Test func aDamagedTrailerIsNoNewerVersion() throws {
        let rig = try DamageRig(
            "damage.trailer-bytes", content: noise(1_500_000), encoding: .forced(.identity))
        var generator = SeededGenerator(seed: TestRun.seed)
        let start = rig.image.count - 32
        for _ in 0..<TestRun.count(short: 20, long: 5000) {
            var image = rig.image
            let first = Int.random(in: 0..<24, using: &generator)
            for index in first..<Int.random(in: first + 1...24, using: &generator) {
                image[start + index] = .random(in: 0...255, using: &generator)
            }
            guard image != rig.image else { continue }
            try rig.write(image)
            try rig.attack("\(image.suffix(32))", asking: [.metadata, .verify])
        }
        // A length that a footer to come could have, and a version to come: only the checksum gives it away.
        for length in [(1 << 20) + 1, 1_430_158, UInt32(rig.image.count)] as [UInt32] {
            var image = rig.image
            image.replaceSubrange(start + 8..<start + 12, with: littleEndian(length))
            image[start + 12] = 2
            try rig.write(image)
            try rig.attack("footer length \(length)", asking: [.metadata, .verify])
        }
        // A length that no footer of ours has, and a version to come: the rest of the trailer gives it away.
        for length in [0, 39, (1 << 20) + 1, UInt32.max] as [UInt32] {
            var image = rig.image
            image.replaceSubrange(start + 8..<start + 12, with: littleEndian(length))
            image[start + 12] = 2
            image[start + 1] ^= 1
            try rig.write(image)
            try rig.attack("footer length \(length)", asking: [.metadata, .verify])
        }
        try rig.finish()
    }
}

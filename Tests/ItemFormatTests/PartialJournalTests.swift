import Foundation
import ItemFormatTestSupport
import PrefetchFileSystem
import PrefetchStorageAreas
import Testing

@testable import PrefetchItemFormat

/// The journal beside a kept partial: written and read, and damaged in every byte.
@Suite struct PartialJournalTests {
    private static let metadata = ItemMetadata(
        key: "feed/épisode 42", source: "feeds.example.org",
        destination: .documents("Épisode 42.mp3", in: "Podcasts/Été", backup: .include),
        validator: Validator(entityTag: "W/\"5f3e\"", lastModified: "Tue, 15 Nov 1994 12:45:26 GMT"),
        priority: 0.625, storedAt: 1_700_000_000_123, expiresAt: 1_800_000_000_456, attributes: [0, 1, 2])
    private func write(_ encoding: ItemEncoding = .lz4, expectedLength: Int64? = 5 << 20, to file: ItemFile)
        throws
        -> PartialJournal
    {
        var journal = PartialJournal(
            metadata: Self.metadata, encoding: encoding, expectedLength: expectedLength,
            generation: 0x1234_5678_9ABC_DEF0)
        let live = LiveFileSystem()
        try journal.begin(file.descriptor, in: live, writer: 7, keptAt: 99)
        let length = UInt32(encoding == .lz4 ? 5000 : 1 << 20)
        let chunks = (0..<3).map { Chunk(storedBytes: length, checksum: UInt64($0) + 40) }
        try journal.append(chunks[..<2], to: file.descriptor, in: live)
        try journal.append(chunks[2...], to: file.descriptor, in: live)
        return journal
    }

    private func read(_ file: ItemFile) throws -> PartialJournal {
        try PartialJournal(of: file.descriptor, in: LiveFileSystem())
    }

    @Test(arguments: [ItemEncoding.lz4, .identity], [nil, 5 << 20 as Int64])
    func whatIsWrittenIsRead(encoding: ItemEncoding, length: Int64?) throws {
        try withItemFile { file in
            let written = try write(encoding, expectedLength: length, to: file)
            #expect(try read(file) == written)
            #expect(written.chunks.count == 3)
            #expect(written.contentBytes == 3 << 20)
            #expect(try file.image().count == Int(written.length))
            let head = try #require(try PartialHead(of: file.descriptor, in: LiveFileSystem()))
            #expect((head.writer, head.keptAt, head.version) == (7, 99, 1))
        }
    }

    @Test func whoWritesItMayChangeAndNothingElseDoes() throws {
        try withItemFile { file in
            let written = try write(to: file)
            try PartialHead.write(writer: 0, keptAt: 100, to: file.descriptor, in: LiveFileSystem())
            #expect(try read(file) == written)
            let head = try #require(try PartialHead(of: file.descriptor, in: LiveFileSystem()))
            #expect((head.writer, head.keptAt) == (0, 100))
        }
    }

    /// Damage to the description is found; damage to a record ends the records before it.
    @Test func everyFlippedByteIsFound() throws {
        try withItemFile { file in
            let written = try write(to: file)
            let image = try file.image()
            let records = Int(written.length) - 3 * 24
            for position in image.indices {
                var damaged = image
                damaged[position] ^= 0x10
                try file.replace(with: damaged)
                switch position {
                case 8..<24: #expect(try read(file) == written, "byte \(position)")
                case 24..<26:
                    #expect(throws: ItemFormatError.self, "byte \(position)") { try read(file) }
                case records...:
                    #expect(
                        try read(file).chunks == written.chunks.prefix((position - records) / 24).map { $0 })
                default:
                    let error = #expect(throws: ItemFormatError.self, "byte \(position)") { try read(file) }
                    var isDamage = false
                    if case .damaged = error { isDamage = true }
                    #expect(isDamage, "byte \(position)")
                }
            }
        }
    }

    @Test func oneThatEndsEarlyHasTheRecordsBefore() throws {
        try withItemFile { file in
            let written = try write(to: file)
            let image = try file.image()
            let records = Int(written.length) - 3 * 24
            for length in 0..<image.count {
                try file.replace(with: Array(image.prefix(length)))
                if length < records {
                    #expect(throws: ItemFormatError.self) { try read(file) }
                } else {
                    #expect(try read(file).chunks.count == (length - records) / 24)
                }
            }
        }
    }

    @Test func recordsOfAnotherBeginningOrPlaceAreNotTaken() throws {
        try withItemFile { file in
            let written = try write(to: file)
            let image = try file.image()
            let start = Int(written.length) - 3 * 24
            let record = { (index: Int) in Array(image[start + index * 24..<start + (index + 1) * 24]) }
            try file.replace(with: Array(image[..<start]) + record(1) + record(0))
            #expect(try read(file).chunks.isEmpty)
            // The generation is part of every record's checksum.
            var other = PartialJournal(
                metadata: Self.metadata, encoding: .lz4, expectedLength: 5 << 20, generation: 1)
            try other.begin(file.descriptor, in: LiveFileSystem(), writer: 0, keptAt: 0)
            #expect(try file.image().count > start)
            #expect(try read(file).chunks.isEmpty)
            try other.append(written.chunks[..<1], to: file.descriptor, in: LiveFileSystem())
            #expect(try read(file).chunks.count == 1)
        }
    }

    @Test func oneOfANewerVersionIsNotReadAny() throws {
        try withItemFile { file in
            _ = try write(to: file)
            var image = try file.image()
            image[24] = 2
            try file.replace(with: image)
            #expect(throws: ItemFormatError.newerVersion(2)) { try read(file) }
        }
    }

    /// Its records are not where this code looks for them, and appends them.
    @Test func oneWhoseDescriptionHasAnUnknownFieldIsDamaged() throws {
        try withItemFile { file in
            var description = ForgedItem(content: [])
            description.setChunks([])
            try file.replace(with: journal(describedBy: description.image))
            let journal = try read(file)
            #expect(journal.metadata.key == "key")
            #expect(try file.image().count == Int(journal.length))
            description.fields.insert(.init(tag: 99, value: [1, 2, 3]), at: 2)
            try file.replace(with: self.journal(describedBy: description.image))
            #expect(throws: ItemFormatError.damaged(.journal)) { try read(file) }
        }
    }

    private func journal(describedBy description: [UInt8]) -> [UInt8] {
        var fixed = littleEndian(PartialJournal.version) + [0, 0] + littleEndian(UInt32(description.count))
        fixed += littleEndian(1 as UInt64) + littleEndian(-1 as Int64)
        let head = Array("PfCacheP".utf8) + [UInt8](repeating: 0, count: 16)
        return head + fixed + littleEndian(fixed.withUnsafeBytes(Checksum.of)) + description
    }
}

import Foundation
import ItemFormatTestSupport
import PrefetchItemFormat
import PrefetchStorageAreas
import Testing

@Suite struct FooterFieldTests {
    @Test func everyFieldComesBack() throws {
        let metadata = ItemMetadata.full
        let read = try read(image(of: Sample.text(1000), metadata)).footer.metadata
        #expect(read == metadata)

        // Some of these compare as Swift does; the bytes must be the same, too.
        #expect(Array(read.source.utf8) == Array("https://example.org/feed".utf8))
        #expect(read.destination?.name.string.utf8.elementsEqual("Folge 42 – Größe.m4a".utf8) == true)
        #expect(read.destination?.folder?.string.utf8.elementsEqual("Größe/42".utf8) == true)
    }

    @Test func whatWasNotSaidComesBackUnsaid() throws {
        let metadata = ItemMetadata.plain()
        let read = try read(image(of: [], metadata)).footer.metadata
        #expect(read == metadata)
    }

    @Test func anItemMayHaveNoDestination() throws {
        var metadata = ItemMetadata.full
        metadata.intent = .opportunistic
        metadata.destination = nil
        let read = try read(image(of: Sample.text(1000), metadata)).footer.metadata
        #expect(read == metadata)
    }

    /// To Swift the two are equal; to the server that issued them they are not.
    @Test func textKeepsItsNormalForm() throws {
        var metadata = ItemMetadata.plain(key: "e\u{301}")
        metadata.source = "\u{E9}"
        let read = try read(image(of: [], metadata)).footer.metadata
        #expect(Array(read.key.string.utf8) == [0x65, 0xCC, 0x81])
        #expect(Array(read.source.utf8) == [0xC3, 0xA9])
    }

    @Test(arguments: [.min, -1, 0, 1, .max - 1] as [Int64])
    func anyTimeComesBack(time: Int64) throws {
        var metadata = ItemMetadata.plain()
        metadata.storedAt = time
        metadata.expiresAt = time
        #expect(try read(image(of: [], metadata)).footer.metadata == metadata)
    }

    @Test func theLongestFieldsComeBack() throws {
        let metadata = ItemMetadata(
            key: try ItemKey(String(repeating: "k", count: ItemKey.maximumBytes)),
            source: String(repeating: "s", count: ItemLimits.sourceBytes),
            destination: .documents(
                try FileName(String(repeating: "n", count: FileName.maximumBytes)),
                in: try FolderPath(
                    [255, 255].map { String(repeating: "f", count: $0) }.joined(separator: "/")),
                backup: .include),
            validator: Validator(
                entityTag: String(repeating: "e", count: ItemLimits.validatorBytes),
                lastModified: String(repeating: "l", count: ItemLimits.validatorBytes)),
            priority: 1, attributes: Sample.noise(ItemLimits.attributesBytes),
            url: URL(string: "https://e/" + String(repeating: "u", count: ItemLimits.urlBytes - 10)))
        for content in [[], Sample.text(1000), Sample.noise(1000), Sample.text(2 * Sample.mebibyte)] {
            let item = try read(image(of: content, metadata))
            #expect(item.footer.metadata == metadata)
            #expect(areSame(item.content, content))
        }
    }

    /// A reader that does not know the field may pass over it: the item is the same.
    @Test func theURLIsAFieldThatMayBePassedOver() throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.fields.insert(.init(tag: 11, value: Array("https://example.org/a?b=c".utf8)), at: 2)
        var metadata = ItemMetadata.plain()
        metadata.url = URL(string: "https://example.org/a?b=c")
        #expect(try read(forged.image).footer.metadata == metadata)
        #expect(try image(of: Sample.text(100), metadata, encoding: .forced(.identity)) == forged.image)
    }

    @Test(arguments: ["https://user@example.org/", "file:///etc/passwd", "", "http://"])
    func aURLThatCouldNotHaveBeenWrittenIsDamage(url: String) throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.fields.insert(.init(tag: 11, value: Array(url.utf8)), at: 2)
        #expect(throws: ItemFormatError.damaged(.footerFields)) { try read(forged.image) }
    }

    /// A reader that does not know the field must not take the item for one without it.
    @Test func theFolderIsAFieldThatMustBeUnderstood() throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.fields.insert(.init(tag: 0x8008, value: Array("Podcasts/Daily".utf8)), at: 2)
        let destination = Destination.documents("name.txt", in: "Podcasts/Daily", backup: .include)
        #expect(try read(forged.image).footer.metadata.destination == destination)
        let written = try image(
            of: Sample.text(100), ItemMetadata(key: "key", destination: destination),
            encoding: .forced(.identity))
        #expect(written == forged.image)
    }

    @Test func aFieldOfALaterMinorVersionIsPassedOver() throws {
        var forged = ForgedItem(content: Sample.text(100))
        for tag in [0, 8, 63, 64, 0x7FFF] as [UInt16] {
            forged.fields.insert(.init(tag: tag, value: [1, 2, 3]), at: 1)
        }
        // Nobody knows whether an unknown field may come twice.
        forged.fields.append(.init(tag: 8, value: []))
        let item = try read(forged.image)
        #expect(item.footer.metadata == .plain())
        #expect(item.content == Sample.text(100))
    }

    /// Only what may be promoted without being read says when it was written.
    @Test(arguments: [
        (4 * Sample.mebibyte + 1, ItemEncoding.identity, 77 as UInt64?),
        (4 * Sample.mebibyte, .identity, nil),
        (4 * Sample.mebibyte + 1, .lz4, nil),
    ])
    func theBootIsRecordedInLargeIdentityItems(
        contentBytes: Int, _ encoding: ItemEncoding, _ expected: UInt64?
    ) throws {
        let content = Sample.noise(contentBytes)
        let written = try image(of: content, .full, encoding: .forced(encoding), boot: 77)
        #expect(try read(written).footer.boot == expected)
        #expect(
            Int64(written.count)
                <= ItemFooter.storedBytesBound(contentBytes: Int64(content.count), metadata: .full))
        #expect(try read(image(of: content, .full, encoding: .forced(encoding))).footer.boot == nil)
    }

    @Test(arguments: [0, 7, 9])
    func aBootOfAnotherLengthIsDamage(length: Int) throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.fields.insert(.init(tag: 9, value: Array(repeating: 1, count: length)), at: 1)
        #expect(throws: ItemFormatError.damaged(.footerFields)) { try read(forged.image) }
    }
}

@Suite struct MetadataLimitsTests {
    private static let fields:
        [(name: String, limit: Int, set: @Sendable (inout ItemMetadata, Int) -> Void)] = [
            ("source", 1024, { $0.source = String(repeating: "s", count: $1) }),
            ("entity tag", 4096, { $0.validator.entityTag = String(repeating: "e", count: $1) }),
            ("last-modified date", 4096, { $0.validator.lastModified = String(repeating: "l", count: $1) }),
            ("attributes", 65_536, { $0.attributes = Array(repeating: 0, count: $1) }),
            ("URL", 16_384, { $0.url = URL(string: "https://e/" + String(repeating: "u", count: $1 - 10)) }),
        ]

    @Test(arguments: fields.indices) func whatIsTooLongIsRefused(index: Int) throws {
        let (name, limit, set) = Self.fields[index]
        var metadata = ItemMetadata.plain()
        set(&metadata, limit)
        try metadata.validate()
        set(&metadata, limit + 1)
        #expect(throws: ItemFormatError.metadataTooLong(field: name, bytes: limit + 1, limit: limit)) {
            try metadata.validate()
        }
    }

    @Test(arguments: [
        "https://user@example.org/a", "https://user:word@example.org/a", "ftp://example.org/a",
        "example.org/a",
        "https:///a", "file:///etc/passwd",
    ])
    func aURLWithCredentialsOrOfNoServerIsRefused(url: String) {
        var metadata = ItemMetadata.plain()
        metadata.url = URL(string: url)
        #expect(throws: ItemFormatError.unsuitableURL) { try metadata.validate() }
    }

    @Test(arguments: [
        ["a", "a"], ["a", "A"], ["\u{E9}", "e\u{301}"], ["a/b", "a"], ["a/b", "A/c"], ["x/A/1", "x/a/2"],
    ])
    func filesThatSomeFileSystemTakesForOneAreRefused(paths: [String]) throws {
        var metadata = try ItemMetadata.bundle(paths)
        #expect {
            try metadata.validate()
        } throws: { error in
            guard case ItemFormatError.bundle(.conflictingPath) = error else { return false }
            return true
        }
        metadata.parts.removeLast()
        try metadata.validate()
    }

    @Test func aBundleNeedsAFolderToGoTo() throws {
        var metadata = try ItemMetadata.bundle(["a"])
        metadata.destination = nil
        #expect(throws: ItemFormatError.bundle(.unsuitableDestination)) { try metadata.validate() }
        metadata.destination = .iCloudDrive("bundle")
        #expect(throws: ItemFormatError.bundle(.unsuitableDestination)) { try metadata.validate() }
    }

    @Test func lengthsOfABundleAreBounded() throws {
        var metadata = try ItemMetadata.bundle(["a", "b"])
        metadata.parts[0] = BundlePart("a", contentBytes: -1)
        #expect(throws: ItemFormatError.bundle(.negativeLength(path: "a"))) { try metadata.validate() }
        metadata.parts = [BundlePart("a", contentBytes: .max), BundlePart("b", contentBytes: 1)]
        #expect(throws: ItemFormatError.contentTooLong) { try metadata.validate() }
        metadata = try .bundle((0..<11_000).map { "\($0)" })
        #expect(
            throws: ItemFormatError.metadataTooLong(field: "list of files", bytes: 153_890, limit: 131_072)
        ) {
            try metadata.validate()
        }
    }

    /// Limits are in bytes, not in characters.
    @Test func aSourceOfFewLongCharactersIsRefused() throws {
        var metadata = ItemMetadata.plain()
        metadata.source = String(repeating: "é", count: 513)
        #expect(throws: ItemFormatError.metadataTooLong(field: "source", bytes: 1026, limit: 1024)) {
            try metadata.validate()
        }
    }

    @Test(arguments: [-0.1, 1.1, 1.000_001, .infinity, -.infinity, .nan] as [Float])
    func aPriorityOutsideItsRangeIsRefused(priority: Float) throws {
        var metadata = ItemMetadata.plain()
        metadata.priority = priority
        let error = #expect(throws: ItemFormatError.self) { try metadata.validate() }
        // Nothing equals what is no number.
        guard case .priorityOutOfRange(let refused)? = error else { Issue.record("\(error as Any)"); return }
        #expect(refused.bitPattern == priority.bitPattern)
        for taken in [0, 0.5, 1] as [Float] {
            metadata.priority = taken
            try metadata.validate()
        }
    }

    @Test func aWriterForRefusedMetadataTouchesNothing() throws {
        try withItemFile { file in
            var metadata = ItemMetadata.plain()
            metadata.priority = 2
            #expect(throws: ItemFormatError.priorityOutOfRange(2)) { try file.writer(metadata) }
            #expect(file.fileSystem.calls.isEmpty)
        }
    }

    /// A database could take it for the end of the text, and one source for another.
    @Test func aTextWithNULIsRefused() throws {
        for (field, change) in [
            ("source", { (metadata: inout ItemMetadata) in metadata.source = "feed\0x" }),
            ("entity tag", { $0.validator.entityTag = "\0" }),
            ("last-modified date", { $0.validator.lastModified = "a\0" }),
        ] {
            var metadata = ItemMetadata.full
            change(&metadata)
            #expect(throws: ItemFormatError.metadataContainsNUL(field: field)) { try metadata.validate() }
        }
        var forged = ForgedItem(content: Sample.text(100))
        forged.fields.insert(.init(tag: 2, value: Array("feed\0x".utf8)), at: 1)
        #expect(throws: ItemFormatError.damaged(.footerFields)) { try read(forged.image) }
    }
}

extension ItemMetadata {
    fileprivate static func bundle(_ paths: [String]) throws -> ItemMetadata {
        ItemMetadata(
            key: "bundle", destination: .documents("bundle"),
            parts: try paths.map { BundlePart(try FolderPath($0), contentBytes: 1) })
    }
}

/// What a newer version wrote is told from damage, so that it can be left alone.
@Suite struct NewerVersionTests {
    /// Whatever else is in its footer.
    @Test(arguments: [2, 3, UInt16.max]) func aNewerTrailerIsReportedWithItsVersion(version: UInt16) throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.version = version
        #expect(try failure(reading: forged.image) == .newerVersion(version))
        forged.fields.append(.init(tag: 8, value: [UInt8](repeating: 0, count: 2 << 20)))
        #expect(try failure(reading: forged.image) == .newerVersion(version))
        (forged.frameMagic, forged.fields) = (0, [])
        #expect(try failure(reading: forged.image) == .newerVersion(version))
    }

    @Test(arguments: [0x8000, 0x8001, 0xFFFF] as [UInt16])
    func anUnknownFieldThatMustBeUnderstoodNeedsANewerReader(tag: UInt16) throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.fields.append(.init(tag: tag, value: []))
        #expect(try failure(reading: forged.image) == .newerVersion(2))
    }

    /// A version is believed only with the checksum that goes with it.
    @Test func aFlippedVersionIsDamage() throws {
        var image = ForgedItem(content: Sample.text(100)).image
        image[image.count - 20] = 2
        #expect(try failure(reading: image) == .damaged(.footerChecksum))
    }
}

/// Footers with right checksums and wrong claims, as only malice or a faulty writer makes them.
@Suite struct ForgedItemTests {
    private static let content = Sample.text(1000)

    /// Negative control for this suite, and a description of the format that does not share a line
    /// with the writer.
    @Test func anHonestForgeryIsWhatTheWriterWrites() throws {
        let forged = ForgedItem(content: Self.content).image
        #expect(try forged == image(of: Self.content, .plain(), encoding: .forced(.identity)))
        #expect(try read(forged).content == Self.content)
    }

    @Test(arguments: Forgery.fields)
    func aFooterWithWrongFieldsIsDamaged(forgery: Forgery) throws {
        #expect(try failure(reading: forgery.image(of: Self.content)) == .damaged(.footerFields))
    }

    @Test(arguments: Forgery.chunkTables)
    func aChunkTableThatDoesNotFitIsDamaged(forgery: Forgery) throws {
        #expect(try failure(reading: forgery.image(of: Self.content)) == .damaged(.chunkTable))
    }

    @Test(arguments: Forgery.trailers)
    func aTrailerThatLeadsAstrayIsDamaged(forgery: Forgery) throws {
        #expect(try failure(reading: forgery.image(of: Self.content)) == .damaged(.trailer))
    }

    /// Every chunk may claim 4 GiB, and the sum must not overflow.
    @Test func aFooterFullOfTheLongestChunksIsDamaged() throws {
        var forged = ForgedItem(content: Self.content)
        forged.setChunks(Array(repeating: (storedBytes: .max, checksum: 0), count: 80_000))
        forged.contentBytes = 80_000 << 20
        #expect(try failure(reading: forged.image) == .damaged(.chunkTable))
    }

    /// No claim leads to a read that is longer than the first look at any file.
    @Test(arguments: Forgery.fields + Forgery.chunkTables + Forgery.trailers)
    func noClaimMakesTheReaderAskForMuch(forgery: Forgery) throws {
        try withItemFile { file in
            try file.replace(with: forgery.image(of: Self.content))
            _ = try file.failure()
            for case .read(_, let length) in file.fileSystem.calls { #expect(length <= 128 << 10) }
        }
    }
}

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
        #expect(read.intent == .userRequested)
        #expect(read.destination?.area == .applicationSupport)
        #expect(read.destination?.name.string.utf8.elementsEqual("Folge 42 – Größe.m4a".utf8) == true)
        #expect(read.destination?.folder?.string.utf8.elementsEqual("Größe/42".utf8) == true)
        #expect(read.destination?.backup == .exclude)
        #expect(read.validator.entityTag == "W/\"5f3e\"")
        #expect(read.validator.lastModified == "Tue, 15 Nov 1994 12:45:26 GMT")
        #expect(read.priority == 0.625)
        #expect(read.storedAt == 1_700_000_000_123)
        #expect(read.expiresAt == 1_800_000_000_456)
        #expect(read.attributes == [0, 1, 2, 0xFF])
    }

    @Test func whatWasNotSaidComesBackUnsaid() throws {
        let metadata = ItemMetadata.plain()
        let read = try read(image(of: [], metadata)).footer.metadata
        #expect(read == metadata)
        #expect(read.source.isEmpty)
        #expect(read.validator == Validator())
        #expect(read.expiresAt == nil)
        #expect(read.attributes.isEmpty)
        #expect(read.destination?.folder == nil)
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

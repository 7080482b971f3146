import Foundation
import ItemFormatTestSupport
import PrefetchItemFormat
import PrefetchStorageAreas
import Testing

@Suite struct MetadataLimitsTests {
    @Test func aSourceThatIsTooLongIsRefused() throws {
        try expectRefusal(field: "source", limit: 1024) { metadata, length in
            metadata.source = String(repeating: "s", count: length)
        }
    }

    @Test func anEntityTagThatIsTooLongIsRefused() throws {
        try expectRefusal(field: "entity tag", limit: 4096) { metadata, length in
            metadata.validator.entityTag = String(repeating: "e", count: length)
        }
    }

    @Test func aDateThatIsTooLongIsRefused() throws {
        try expectRefusal(field: "last-modified date", limit: 4096) { metadata, length in
            metadata.validator.lastModified = String(repeating: "l", count: length)
        }
    }

    @Test func attributesThatAreTooLongAreRefused() throws {
        try expectRefusal(field: "attributes", limit: 65_536) { metadata, length in
            metadata.attributes = Array(repeating: 0, count: length)
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

    @Test func aURLThatIsTooLongIsRefused() throws {
        try expectRefusal(field: "URL", limit: 16_384) { metadata, length in
            metadata.url = URL(string: "https://e/" + String(repeating: "u", count: length - 10))
        }
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

    @Test(arguments: [-0.1, 1.1, 1.000_001, .infinity, -.infinity] as [Float])
    func aPriorityOutsideItsRangeIsRefused(priority: Float) throws {
        var metadata = ItemMetadata.plain()
        metadata.priority = priority
        #expect(throws: ItemFormatError.priorityOutOfRange(priority)) { try metadata.validate() }
    }

    @Test func aPriorityThatIsNoNumberIsRefused() throws {
        var metadata = ItemMetadata.plain()
        metadata.priority = .nan
        // Nothing equals not-a-number, so the error cannot be compared with `==`.
        #expect {
            try metadata.validate()
        } throws: { error in
            guard case ItemFormatError.priorityOutOfRange(let priority) = error else { return false }
            return priority.isNaN
        }
    }

    @Test(arguments: [0, 0.5, 1] as [Float])
    func aPriorityWithinItsRangeIsTaken(priority: Float) throws {
        var metadata = ItemMetadata.plain()
        metadata.priority = priority
        try metadata.validate()
    }

    @Test func aWriterForRefusedMetadataTouchesNothing() throws {
        try withItemFile { file in
            var metadata = ItemMetadata.plain()
            metadata.priority = 2
            #expect(throws: ItemFormatError.priorityOutOfRange(2)) { try file.writer(metadata) }
            #expect(file.fileSystem.calls.isEmpty)
        }
    }

    private func expectRefusal(
        field: String, limit: Int, _ set: (inout ItemMetadata, Int) -> Void
    ) throws {
        var metadata = ItemMetadata.plain()
        set(&metadata, limit)
        try metadata.validate()
        set(&metadata, limit + 1)
        #expect(throws: ItemFormatError.metadataTooLong(field: field, bytes: limit + 1, limit: limit)) {
            try metadata.validate()
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

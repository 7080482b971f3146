import FileSystemTestSupport
import Foundation
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Texts of servers that want to be paths, commands, queries or other texts: as key, name, folder, source and validator
/// of items.
@Suite struct HostileTextTests {
    private static let paths = [
        "../../../etc/passwd", "/etc/passwd", "..", ".", "a/../../b", "~/x", "..\\..\\windows",
        "file:///etc/passwd",
        "items/../catalog.sqlite", "record.sqlite", ".PrefetchCache-staging", "CACHEDIR.TAG", "a//b", "a/",
        "-rf",
    ]
    private static let queries = [
        "'; DROP TABLE item; --", "\" OR 1=1", "%' ESCAPE '", "x'00'", "?1", ":key", "$(reboot)", "`id`",
        "a\\'b",
        "NULL", "100%", "_", "*", "[a-z]",
    ]
    private static let terminals = [
        "\u{1B}[2J\u{1B}]0;title\u{7}", "\r\nattack disk: 0 cases", "a\u{8}\u{8}b", "fdp\u{202E}exe.txt",
        "\u{2066}x\u{2069}",
        "\u{200B}", "\u{FEFF}bom", "\u{9B}31m",
    ]
    /// Each pair is one name to somebody: to the user, to APFS or to a database.
    private static let pairs = [
        "é", "e\u{301}", "Straße", "STRASSE", "straße", "ﬁlm", "film", "FILM", "İ", "i\u{307}", "K",
        "\u{212A}", "a ", "a",
        "\u{1F468}\u{200D}\u{1F469}", "\u{1F468}\u{1F469}",
    ]
    private static let long = [
        String(repeating: "a", count: 1024), String(repeating: "../", count: 300),
        String(repeating: "\u{1F4A9}", count: 256), String(repeating: "e\u{301}", count: 300),
    ]
    private static let tooLong = [
        "", "nul\0byte", String(repeating: "k", count: 1025), String(repeating: "x", count: 10_240),
    ]

    private static let texts = paths + queries + terminals + pairs + long

    private let container = TemporaryContainer.make(in: .fastTemporaryFolder)

    /// An item that is the text everywhere.
    private func metadata(_ text: String) throws -> ItemMetadata {
        let name = FileName(sanitizing: text)
        return ItemMetadata(
            key: try ItemKey(text), source: text, destination: .in(.documents, name, try FolderPath([name])),
            validator: Validator(entityTag: text, lastModified: text), attributes: Array(text.utf8))
    }

    private func content(_ text: String) -> Data { Data(("content of " + text).utf8) }

    @Test func eachIsOneItemAndOneFileBelowDocuments() throws {
        var record = AttackRecord("attackers.texts", of: "items that are a text everywhere")
        let engine = try container.engine()
        for text in Self.texts {
            let metadata = try metadata(text)
            let stored = try engine.store(content(text), as: metadata)
            #expect(stored.isStored, "\(text.debugDescription)")
        }
        try engine.flush()
        // Another catalog, from the items: as the first one, byte for byte.
        let items = try engine.items()
        #expect(Set(items.map(\.key)).count == Self.texts.count)
        try engine.close()
        try container.catalog.remove()
        let second = try container.engine()
        #expect(Set(try second.items().map(\.key)) == Set(items.map(\.key)))

        let documents = container.documents.path + "/"
        var files: Set<[UInt8]> = []
        for text in Self.texts {
            record.cases += 1
            let key = try ItemKey(text)
            let item = try #require(items.first { $0.key == key })
            #expect(Array(item.source.utf8) == Array(text.utf8), "\(text.debugDescription)")
            let served = try second.content(key)
            record.note(\.wrongBytes, if: served != content(text))
            let opened = try #require(try second.open(key).value)
            let path = opened.path.string
            #expect(path.hasPrefix(documents), "\(path)")
            #expect(opened.path.components.count == container.documents.pathComponents.count + 1, "\(path)")
            #expect(!path.unicodeScalars.contains { $0.properties.isBidiControl || $0.value < 32 }, "\(path)")
            let handedOver = try Data(contentsOf: opened.url)
            record.note(\.lostPromotions, if: handedOver != content(text))
            #expect(files.insert(Array(path.utf8)).inserted, "\(path) is that of two keys")
        }
        let outside = try container.files(below: container.root).filter {
            !$0.hasPrefix("Documents/") && !$0.hasPrefix("Library/Caches/")
                && !$0.hasPrefix("Library/Application Support/PrefetchCache/")
        }
        record.note(\.foreignTouched, outside.count)
        record.report()
        #expect(record.isHarmless, "\(outside)")
        #expect(try container.files(below: container.documents).count == Self.texts.count)
    }

    @Test(arguments: tooLong) func whatIsNoKeyIsRefused(text: String) {
        #expect(throws: ItemKeyError.self) { try ItemKey(text) }
    }
}

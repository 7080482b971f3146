import Foundation
import Testing

/// What a feature has written, between two inventories.
@Suite struct InventoryDiffTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private var saved: String { container.folder.url.appending(path: "before.json").path }

    private func write(_ text: String, to path: String) throws {
        let file = container.root.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func changes() throws -> [String: [String: Any]] {
        let changes = try #require(
            container.json("inventory", "--diff", saved)["changes"] as? [[String: Any]])
        return Dictionary(uniqueKeysWithValues: changes.map { ($0["path"] as? String ?? "", $0) })
    }

    @Test func whatAFeatureWritesIsShown() throws {
        try write("one", to: "Documents/stays.txt")
        try write("one", to: "Documents/grows.txt")
        try write("one", to: "Library/Application Support/goes.db")
        try write("odd", to: "Documents/\u{202E}odd\n.txt")
        #expect(try container.succeed("inventory", "--save", saved).text.hasPrefix("saved "))
        let unchanged = try container.succeed("inventory", "--diff", saved).text
        #expect(unchanged.hasPrefix("nothing has changed since"))

        try write("one and more", to: "Documents/grows.txt")
        try write("image", to: "Library/Caches/Images/1.jpg")
        try FileManager.default.removeItem(
            at: container.root.appending(path: "Library/Application Support/goes.db"))
        let changes = try changes()
        #expect(
            changes.mapValues { $0["change"] as? String } == [
                "Documents/grows.txt": "changed", "Library/Caches/Images/1.jpg": "created",
                "Library/Application Support/goes.db": "removed",
            ])
        #expect(changes["Documents/grows.txt"]?["bytesBefore"] as? Int == 3)
        #expect(changes["Documents/grows.txt"]?["bytesAfter"] as? Int == 12)
        #expect(changes["Library/Caches/Images/1.jpg"]?["backedUpAfter"] as? Bool == false)
        #expect(changes["Library/Application Support/goes.db"]?["backedUpBefore"] as? Bool == true)
        let text = try container.succeed("inventory", "--diff", saved).text
        #expect(text.contains("1 created, 1 changed, 1 removed; +11 B, and +6 B in a backup"))
    }

    @Test func aNewItemIsAChangeOfTheCache() throws {
        try container.succeed("inventory", "--save", saved)
        try container.succeed("put", "a", "-", "--source", "feed", input: Data("content".utf8))
        #expect(try changes().values.contains { $0["kind"] as? String == "item" })
    }

    @Test func whatIsNoSavedInventoryIsRefused() throws {
        try Data("{}".utf8).write(to: URL(filePath: saved))
        let outcome = try container.cachectl("inventory", "--diff", saved)
        #expect(outcome.status == 65)
        #expect(outcome.errors.contains("is not a saved inventory"))
        #expect(try container.cachectl("inventory", "--diff", "/nowhere.json").status == 66)
    }

    @Test func bothAtOnceAreRefused() throws {
        #expect(try container.cachectl("inventory", "--diff", saved, "--save", saved).status == 64)
        #expect(try container.cachectl("inventory", "--save", saved, "--kind", "item").status == 64)
    }
}

import FileSystemTestSupport
import Foundation
import ItemFormatTestSupport
import PrefetchCaching
import PrefetchItemFormat
import Testing

extension Container {
    /// Puts a file in the place of an item, as if it had been stored.
    func plant(_ bytes: [UInt8], as key: ItemKey) throws {
        try write(Data(bytes), as: key)
    }

    @discardableResult
    func write(_ bytes: Data, as key: ItemKey) throws -> URL {
        let name = key.hash.hexadecimal
        let folder = root.appending(path: "Library/Caches/PrefetchCache/items/\(name.prefix(2))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let file = folder.appending(path: name)
        try bytes.write(to: file)
        return file
    }
}

/// Items that were stored, and expire, when no clock should have stood.
@Suite struct OddTimeTests {
    private static let times: [(milliseconds: Int64, text: String)] = [
        (-14_182_940_000, "1969-07-20T20:17:40Z"), (2_147_483_648_000, "2038-01-19T03:14:08Z"),
        (4_294_967_296_000, "2106-02-07T06:28:16Z"), (.min, "\(Int64.min) ms after 1970"),
        (.max - 1, "\(Int64.max - 1) ms after 1970"),
    ]

    @Test func everyCommandPrintsThem() async throws {
        var record = AttackRecord("time.printed", of: "commands on items of odd times")
        let container = try Container()
        try await container.succeed("configure", "--budget", "64MiB")
        let caches = container.root.appending(path: "Library/Caches/PrefetchCache")
        for name in try FileManager.default.contentsOfDirectory(atPath: caches.path)
        where name.hasPrefix("catalog.sqlite") {
            try FileManager.default.removeItem(at: caches.appending(path: name))
        }
        for (number, time) in Self.times.enumerated() {
            var item = ForgedItem(content: Array("content".utf8))
            item.set(1, to: Array("key-\(number)".utf8))
            item.storedAt = time.milliseconds
            item.expiresAt = .max - 1
            try container.plant(item.image, as: ItemKey("key-\(number)"))
        }
        for (number, time) in Self.times.enumerated() {
            #expect(try await container.succeed("show", "key-\(number)").text.contains(time.text))
            let item = try await container.json("show", "key-\(number)")
            record.cases += 2
            #expect(item["storedAtMilliseconds"] as? Int64 == time.milliseconds)
        }
        let commands = [
            ["list"], ["list", "--json"], ["inventory"], ["inventory", "--files"],
            ["inventory", "--json"], ["stats"], ["verify"], ["repair", "--dry-run"],
            ["evict", "--older-than", "7d", "--dry-run"],
        ]
        for command in commands {
            let outcome = try await container.cachectl(command)
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
            record.cases += 1
            record.note(\.crashes, if: outcome.status > 128)
        }
        #expect(record.isHarmless)
        record.report()
    }
}

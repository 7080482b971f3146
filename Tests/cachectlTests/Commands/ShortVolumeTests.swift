import Foundation
import Testing

/// The command on a real volume that has too little room. Mounting one needs root; elsewhere the suite
/// is skipped.
@Suite(.enabled(if: SmallVolume.isPossible, "Mounting a tmpfs needs root on Linux."))
struct ShortVolumeTests {
    let volume: SmallVolume
    let container: Container

    init() throws {
        volume = try SmallVolume(megabytes: 4)
        container = try Container(at: volume.root.appending(path: "container", directoryHint: .isDirectory))
        for number in 0..<6 {
            try container.succeed("put", "text-\(number)", "-", input: text)
        }
    }

    private var keys: Set<String> {
        get throws { Set(try container.list().compactMap { $0["key"] as? String }) }
    }

    /// The regular files below a folder of the container, without those that only are locks.
    private func files(below path: String) throws -> [String] {
        let folder = container.root.appending(path: path)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
            var isFolder: ObjCBool = false
            let path = folder.appending(path: name).path
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
                && !name.hasSuffix(".lock")
        }
    }

    @Test(arguments: ["file", "-"])
    func whatDoesNotFitIsRefusedWithBothFiguresAndLeavesNothingBehind(_ input: String) throws {
        let content = noise(5_000_000, seed: 1)
        try container.folder.write(content, to: "file")
        let staging = "Library/Application Support/PrefetchCache"
        let before = try files(below: staging)

        let outcome = try container.cachectl("put", "k", input, "--requested", "--json", input: content)
        #expect(outcome.status == 75)
        let object = try #require(JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        #expect(Set(object.keys) == ["error", "neededBytes", "availableBytes", "message", "schemaVersion"])
        #expect(object["error"] as? String == "insufficientSpace")
        let needed = try #require(object["neededBytes"] as? Int)
        let available = try #require(object["availableBytes"] as? Int)
        #expect(needed > available)
        #expect(available < 4 << 20)
        if input == "file" { #expect(needed == content.count) }
        let failure = try outcome.failure
        #expect(object["message"] as? String == failure.message)
        #expect(failure.exitCode == 75)
        #expect(outcome.errors.contains("\(needed) bytes are needed"))
        #expect(outcome.errors.contains("\(available) bytes are available"))

        #expect(try files(below: staging) == before)
        #expect(try container.cachectl("cat", "k").status == 66)
        #expect(try keys.count == 6)
        for key in try keys { #expect(try container.succeed("cat", key).output == text) }
    }

    @Test func cachedItemsMakeWayForWhatTheUserAskedFor() throws {
        for number in 0..<3 {
            try container.succeed("put", "noise-\(number)", "-", input: noise(150_000, seed: UInt64(number)))
        }
        let capacity = try container.json("capacity")
        let derivation = try #require(capacity["derivation"] as? [String: Any])
        let available = try #require(capacity["availableBytes"] as? Int)
        let low = try #require(derivation["lowBytes"] as? Int)
        let evictable = try #require(capacity["evictableBytes"] as? Int)
        let content = noise(available - low + evictable / 2, seed: 9)
        try container.folder.write(content, to: "file")

        let outcome = try container.succeed("put", "k", "file", "--requested")
        let path = outcome.text.trimmingCharacters(in: .newlines)
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        let left = try keys
        #expect(left.contains("noise-2"))
        #expect(!left.contains("text-0"))
    }

    @Test func withoutJSONTheFiguresAreOnStandardErrorOnly() throws {
        try container.folder.write(noise(5_000_000, seed: 1), to: "file")
        let outcome = try container.cachectl("put", "k", "file", "--requested")
        #expect(outcome.status == 75)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains(/5000000 bytes are needed, and \d+ bytes are available/))
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func aFullVolumeRefusesAGuessAndOpensWhatIsThere() throws {
        try volume.fill()
        let capacity = try container.json("capacity")
        #expect(capacity["availableBytes"] as? Int == 0)
        #expect(capacity["pressure"] as? String == "critical")
        #expect(capacity["refusal"] as? String == "pressure")
        #expect(
            try container.succeed("capacity").text.hasPrefix(
                "pressure  critical: the volume is practically full"))

        for input in ["-", "file"] {
            try container.folder.write(noise(50_000, seed: 1), to: "file")
            let outcome = try container.cachectl("put", "k", input, input: noise(50_000, seed: 1))
            #expect(outcome.status == 75)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("(pressure)"))
            #expect(try files(below: "Library/Caches/PrefetchCache/incoming").isEmpty)
        }
        // A note of this use may be lost, of which the command warns.
        let cat = try container.cachectl("cat", "text-3")
        #expect(cat.status == 0)
        #expect(cat.output == text)
        let opened = try container.cachectl("open", "text-0")
        #expect(opened.status == 0)
        let path = opened.text.trimmingCharacters(in: .newlines)
        #expect(try Data(contentsOf: URL(filePath: path)) == text)
    }

    @Test func whereNothingCanBeEvictedThatIsSaidAndIsNoFailure() throws {
        try container.succeed("evict", "--all")
        try volume.fill()
        #expect(try container.succeed("evict", "--all").text == "nothing was evicted\n")
        #expect(try container.json("evict", "--bytes", "1MiB")["freedBytes"] as? Int == 0)
    }

    @Test func aConfigurationThatCannotBeWrittenIsNamed() throws {
        try volume.fill()
        let outcome = try container.cachectl("configure", "--storing", "off")
        #expect(outcome.status == 74)
        #expect(outcome.errors.contains("configuration.json"))
        #expect(outcome.errors.contains("make room on the volume"))
    }

    @Test func theBudgetFollowsTheVolume() throws {
        let before = try #require(container.json("capacity")["budgetBytes"] as? Int)
        #expect(before > 0)
        #expect(before <= 1 << 20)
        try volume.fill()
        #expect(try container.json("capacity")["budgetBytes"] as? Int == 0)
        try FileManager.default.removeItem(at: volume.root.appending(path: "filler"))
        #expect(try #require(container.json("capacity")["budgetBytes"] as? Int) > 0)
    }
}

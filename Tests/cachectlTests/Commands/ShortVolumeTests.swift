import Foundation
import Testing

/// The command on a real volume that has too little room. Mounting one needs root; elsewhere the suite
/// is skipped.
@Suite(.enabled(if: SmallVolume.isPossible, "Mounting a tmpfs needs root on Linux."))
struct ShortVolumeTests {
    let volume: SmallVolume
    let container: Container

    init() async throws {
        volume = try SmallVolume(megabytes: 4)
        container = try Container(at: volume.root.appending(path: "container", directoryHint: .isDirectory))
        for number in 0..<6 {
            try await container.succeed("put", "text-\(number)", "-", input: text)
        }
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
    func whatDoesNotFitIsRefusedWithBothFiguresAndLeavesNothingBehind(_ input: String) async throws {
        let content = noise(5_000_000, seed: 1)
        let input = input == "-" ? input : try container.folder.write(content, to: "file").path
        let staging = "Library/Application Support/PrefetchCache"
        let before = try files(below: staging)

        let outcome = try await container.cachectl("put", "k", input, "--requested", "--json", input: content)
        #expect(outcome.status == 75)
        let object = try outcome.object
        #expect(Set(object.keys) == ["error", "neededBytes", "availableBytes", "message", "schemaVersion"])
        #expect(object["error"] as? String == "insufficientSpace")
        let needed = try #require(object["neededBytes"] as? Int)
        let available = try #require(object["availableBytes"] as? Int)
        #expect(needed > available)
        #expect(available < 4 << 20)
        if input != "-" { #expect(needed == content.count) }
        let failure = try outcome.failure
        #expect(object["message"] as? String == failure.message)
        #expect(failure.exitCode == 75)
        #expect(outcome.errors.contains("\(needed) bytes are needed"))
        #expect(outcome.errors.contains("\(available) bytes are available"))

        let plain = try await container.cachectl("put", "k", input, "--requested", input: content)
        #expect(plain.status == 75 && plain.output.isEmpty)
        #expect(plain.errors.contains(/\d+ bytes are needed, and \d+ bytes are available/))
        #expect(plain.errors.split(separator: "\n").count == 1)

        #expect(try files(below: staging) == before)
        #expect(try await container.cachectl("cat", "k").status == 66)
        #expect(try await container.keys.count == 6)
        for key in try await container.keys {
            #expect(try await container.succeed("cat", key).output == text)
        }
    }

    @Test func whereNothingCanBeEvictedThatIsSaidAndIsNoFailure() async throws {
        try await container.succeed("evict", "--all")
        try volume.fill()
        #expect(try await container.succeed("evict", "--all").text == "nothing was evicted\n")
        #expect(try await container.json("evict", "--bytes", "1MiB")["freedBytes"] as? Int == 0)
    }

    @Test func aConfigurationThatCannotBeWrittenIsNamed() async throws {
        try volume.fill()
        let outcome = try await container.cachectl("configure", "--storing", "off")
        #expect(outcome.status == 74)
        #expect(outcome.errors.contains("configuration.json"))
        #expect(outcome.errors.contains("make room on the volume"))
    }
}

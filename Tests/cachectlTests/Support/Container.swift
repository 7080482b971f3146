import Foundation
import PrefetchCaching
import PrefetchItemFormat
import Testing

/// An app's container with a cache in it, and the command that works on it.
struct Container {
    /// The streams of the command lie here, and the container unless it has a place of its own.
    let folder: TemporaryFolder
    let root: URL

    /// - Parameters:
    ///   - root: Where the container is, when it has a place of its own.
    ///   - hasCache: Whether there are the folders of an empty cache, as an app leaves them.
    init(at root: URL? = nil, hasCache: Bool = true) throws {
        folder = try TemporaryFolder()
        self.root = root ?? folder.url.appending(path: "container", directoryHint: .isDirectory)
        guard hasCache else { return }
        for area in ["Caches", "Application Support"] {
            try FileManager.default.createDirectory(
                at: self.root.appending(path: "Library/\(area)/PrefetchCache"),
                withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    var configurationFile: URL {
        root.appending(path: "Library/Application Support/PrefetchCache/configuration.json")
    }

    /// Writes a configuration as an operator would.
    func configure(_ json: String) async throws {
        try await succeed("list")
        try Data(json.utf8).write(to: configurationFile)
    }

    /// Writes a file into the container.
    func write(_ content: String, to path: String) throws {
        let file = root.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content.utf8).write(to: file)
    }

    /// Configurations whose model finds any volume that has at least a byte on it short of space.
    static let elevated = #"{"capacityModel":{"reservePerMille":1000,"reserveLimit":9223372036854775807}}"#
    static let low =
        #"{"capacityModel":{"lowPerMille":1000,"lowLimit":9223372036854775807,"criticalEnterPerMille":0,"#
        + #""criticalLeavePerMille":0}}"#
    static let critical = #"{"capacityModel":{"lowPerMille":1000,"lowLimit":9223372036854775807}}"#

    /// Runs `cachectl` on this container.
    func cachectl(_ arguments: String..., input: Data = Data()) async throws -> Tool.Outcome {
        try await cachectl(arguments, input: input)
    }

    func cachectl(_ arguments: [String], input: Data = Data()) async throws -> Tool.Outcome {
        try await Tool.run(arguments + ["--container", root.path], input: input, in: folder)
    }

    /// Runs `cachectl` on this container, and expects that it succeeds in silence.
    @discardableResult
    func succeed(
        _ arguments: String..., input: Data = Data(), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Tool.Outcome {
        let outcome = try await cachectl(arguments, input: input)
        #expect(outcome.status == 0, "\(arguments)", sourceLocation: sourceLocation)
        #expect(outcome.errors.isEmpty, "\(outcome.errors)", sourceLocation: sourceLocation)
        return outcome
    }

    /// Runs a line of shell with the built command as `$CACHECTL` and the container as `$CONTAINER`.
    func shell(_ line: String) throws -> Tool.Outcome {
        try Tool.start(
            "/bin/sh", ["-c", line],
            environment: ["CACHECTL": Tool.path, "CONTAINER": root.path], in: folder)
    }

    /// The object that a command printed.
    func json(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> [String: Any]
    {
        let outcome = try await cachectl(arguments + ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)", sourceLocation: sourceLocation)
        let object = try outcome.object
        #expect(object["schemaVersion"] as? Int == 1, sourceLocation: sourceLocation)
        return object
    }

    /// Stores an item an hour ago, that has expired half an hour later.
    func putExpired(_ key: String) async throws {
        var environment = CacheEnvironment.live()
        let now = environment.now
        environment.now = { now() - 3_600_000 }
        let cache = try await PrefetchCache(areas: .container(at: root), environment: environment)
        let end = Date(timeIntervalSinceNow: -1800)
        let outcome = try await cache.store(text, as: ItemMetadata(key: ItemKey(key), expirationDate: end))
        if case .refused(let refusal) = outcome { Issue.record("\(refusal)") }
        try await cache.close()
    }

    /// Breaks off the storing of an item of which 1 MiB is kept.
    func keepPartial() async throws {
        let cache = try await PrefetchCache(areas: .container(at: root))
        let metadata = ItemMetadata(key: "film", source: "feed", destination: .documents("film"))
        switch try await cache.beginStoring(metadata, keepingPartial: true) {
        case .refused(let refusal): Issue.record("\(refusal)")
        case .writer(let writer):
            #expect(try await writer.write(noise((1 << 20) + 5, seed: 1)) == nil)
            _ = try await writer.suspend()
        }
        try await cache.close()
    }

    /// The items that `list` printed.
    func list(sourceLocation: SourceLocation = #_sourceLocation) async throws -> [[String: Any]] {
        try await #require(
            json("list", sourceLocation: sourceLocation)["items"] as? [[String: Any]],
            sourceLocation: sourceLocation)
    }

    /// The keys of the items, in the order of eviction.
    var keys: [String] {
        get async throws { try await list().compactMap { $0["key"] as? String } }
    }

    /// The file of the only item.
    func onlyItemFile(sourceLocation: SourceLocation = #_sourceLocation) async throws -> URL {
        let items = try await list(sourceLocation: sourceLocation)
        #expect(items.count == 1, sourceLocation: sourceLocation)
        let path = try #require(items.first?["path"] as? String, sourceLocation: sourceLocation)
        return root.appending(path: path)
    }
}

import FileSystemTestSupport
import Foundation
import HTTPTestServer
import Logging
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A volume that says what the test tells it to.
final class ToldVolume: VolumeProbing {
    private let told: Mutex<VolumeState>

    init(_ state: VolumeState = VolumeState(total: 1 << 40, available: 1 << 39)) {
        told = Mutex(state)
    }

    func tell(_ state: VolumeState) { told.withLock { $0 = state } }

    func state(of _: Descriptor) -> VolumeState { told.withLock { $0 } }
}

/// How far the cache's clocks are ahead, in milliseconds.
final class TimeAhead: Sendable {
    private let ahead = Mutex(Int64(0))

    var milliseconds: Int64 { ahead.withLock { $0 } }

    func advance(by milliseconds: Int64) { ahead.withLock { $0 += milliseconds } }
}

/// A cache in a folder of its own, and downloaders into it.
final class TestCache: Sendable {
    let cache: PrefetchCache
    let volume: ToldVolume
    let time = TimeAhead()
    let clock = TestClock()
    private let folder: TemporaryFolder
    private let logger: Logger

    /// - Parameter other: A cache whose folder this one uses, too, as another process would.
    init(
        volume: ToldVolume = ToldVolume(), budget: ByteCount? = nil, logger: Logger = .silent,
        sharing other: TestCache? = nil
    ) async throws {
        self.volume = volume
        self.logger = logger
        folder = try other?.folder ?? TemporaryFolder()
        var environment = CacheEnvironment.live(logger: logger)
        environment.probe = volume
        environment.now = { [time, now = environment.now] in now() + time.milliseconds }
        environment.uptime = { [time, uptime = environment.uptime] in
            uptime() + .milliseconds(time.milliseconds)
        }
        cache = try await PrefetchCache(areas: .container(at: folder.path), environment: environment)
        if let budget { try await cache.configure(CacheConfiguration(budget: .fixed(budget))) }
    }

    var container: URL { URL(filePath: folder.path.string, directoryHint: .isDirectory) }
    var documents: URL { URL(filePath: folder.path.appending("Documents").string) }

    func downloader(
        _ change: (inout DownloaderConfiguration) -> Void = { _ in },
        in surroundings: (inout DownloaderEnvironment) -> Void = { _ in }
    ) -> PrefetchDownloader {
        var configuration = DownloaderConfiguration(hosts: ["127.0.0.1", "localhost"])
        change(&configuration)
        var environment = DownloaderEnvironment()
        environment.sleep = { [clock] in try await clock.sleep($0) }
        environment.random = { 1 }
        environment.logger = logger
        surroundings(&environment)
        return PrefetchDownloader(cache, configuration, environment)
    }

    /// Downloads to the end. Waits before another try take no time.
    func download(
        _ request: DownloadRequest, _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) async -> DownloadOutcome {
        await downloader(change).prefetch(request).outcome
    }

    /// Downloads opened files that are missing again, as an app does after a restore.
    func rehydrate(
        _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) async throws -> [ItemKey: DownloadOutcome] {
        let downloader = downloader(change)
        var outcomes: [ItemKey: DownloadOutcome] = [:]
        for file in try await cache.promotedFiles() where file.isLost {
            guard let request = DownloadRequest(rehydrating: file) else { continue }
            outcomes[file.key] = await downloader.prefetch(request).outcome
        }
        return outcomes
    }

    /// Whether that is the content of the item. Not by `==` in the expectation, which would look for the
    /// differences of megabytes.
    func holds(_ content: Data) async throws -> Bool {
        try await cache.read("item") == content
    }

    /// Flips a byte of what is kept of a key.
    func damagePartial(_ key: ItemKey, at offset: Int64) throws {
        let name = CacheLayout.keptPartial(of: key.hash).string
        let file = try FileHandle(
            forUpdating: URL(
                filePath: folder.path.appending("Library/Caches/PrefetchCache/incoming/\(name)").string))
        try file.seek(toOffset: UInt64(offset))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte ^ 0xFF])
        try file.close()
    }

    /// Bytes that are kept of a key.
    func keptBytes(_ key: ItemKey = "item") async throws -> Int64 {
        try await cache.partial(of: key)?.contentBytes ?? 0
    }
}

extension Logger {
    static var silent: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }
}

extension DownloadRequest {
    init(_ url: URL, _ key: ItemKey = "item", _ expectations: ContentExpectation...) {
        self.init(url, key: key, destination: .documents("File"))
        self.expectations = expectations
    }

    /// The same with headers of the caller's.
    func with(_ headers: [String: String]) -> DownloadRequest {
        var request = self
        for (name, value) in headers { request.urlRequest.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    /// The same as the user would ask for it.
    var userRequested: DownloadRequest {
        var request = self
        request.intent = .userRequested
        return request
    }
}

/// Bytes that do not compress, the same for the same seed.
func noise(_ count: Int, seed: UInt64 = 1) -> Data {
    var generator = SeededGenerator(seed: seed)
    let words = (0..<(count + 7) / 8).map { _ in generator.next() }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
}

/// Five whole chunks and a bit.
let content = noise(5_500_000)
let contentDigest = SHA256.digest(of: content)

func isContent(_ file: URL) throws -> Bool {
    try Data(contentsOf: file) == content
}

extension DownloadOutcome {
    var isStored: Bool {
        if case .stored = self { true } else { false }
    }

    var delivered: PromotedFile? {
        if case .delivered(let file) = self { file } else { nil }
    }

    var alreadyPromoted: PromotedFile? {
        if case .alreadyPromoted(let file) = self { file } else { nil }
    }

    var refusal: Refusal? {
        if case .refused(let refusal, _) = self { refusal } else { nil }
    }

    var error: DownloadError? {
        if case .failed(let error) = self { error } else { nil }
    }

    var unmet: UnmetCondition? {
        if case .postponed(let condition, _) = self { condition } else { nil }
    }

    /// What the volume lacks for it.
    var neededBytes: Int64? {
        if case .cache(.insufficientSpace(let needed, _))? = error?.reason { needed } else { nil }
    }
}

extension Download {
    /// Waits for an event.
    func event(where isWanted: (DownloadEvent) -> Bool) async -> DownloadEvent? {
        for await event in events where isWanted(event) { return event }
        return nil
    }

    /// Waits until that much has been stored.
    func hasReceived(_ length: Int64) async {
        let event = await event { event in
            if case .progress(let progress) = event { progress.completedBytes >= length } else { false }
        }
        #expect(event != nil, "the download has ended")
    }
}

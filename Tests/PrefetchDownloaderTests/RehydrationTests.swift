import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Files that no backup contained are downloaded again.
@Suite struct RehydrationTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private func request(_ server: HTTPTestServer, _ key: ItemKey = "film", isRecorded: Bool = true)
        throws -> DownloadRequest
    {
        DownloadRequest(
            server.url("/film"), key: key,
            destination: .documents(try FileName("\(key).mp4"), in: "Films", backup: .exclude),
            attributes: [1, 2], recordedURL: isRecorded ? server.url("/film") : nil)
    }

    /// Downloads and opens a film, and removes its file as a restore would.
    private func loseFilm(
        _ cache: TestCache, _ server: HTTPTestServer, isRecorded: Bool = true
    ) async throws -> PromotedFile {
        #expect(await cache.download(try request(server, isRecorded: isRecorded)).isStored)
        let file = try #require(try await cache.cache.open("film"))
        try FileManager.default.removeItem(at: file.url)
        return file
    }

    @Test func aLostFileIsBackWhereItWas() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        let file = try await loseFilm(cache, server)
        let listed = try await cache.downloader().rehydrate(dryRun: true)
        #expect(listed.map(\.file.key) == ["film"])
        #expect(listed.allSatisfy { $0.outcome == nil })
        #expect(server.requests.count == 1)

        let outcomes = try await cache.downloader().rehydrate()
        #expect(outcomes.count == 1)
        let again = try #require(outcomes.first?.outcome?.delivered)
        #expect(again.path == file.path)
        #expect(try isContent(again.url))
        #expect(again.backup == .exclude)
        #expect(again.provenance?.url == server.url("/film"))
        #expect(again.provenance?.attributes == [1, 2])
        // Nothing is missing any more.
        #expect(try await cache.downloader().rehydrate().isEmpty)
        #expect(server.requests.count == 2)
    }

    @Test func otherContentIsNotTakenForTheLostFile() async throws {
        let server = try HTTPTestServer(
            inTurn: { TestResource(content).answer(to: $0) },
            { TestResource(noise(content.count, seed: 2)).answer(to: $0) })
        let file = try await loseFilm(cache, server)
        let outcome = try await cache.downloader { $0.attempts = 1 }.rehydrate().first?.outcome
        guard case .wrongDigest? = outcome?.error?.reason else {
            Issue.record("\(String(describing: outcome))"); return
        }
        #expect(!FileManager.default.fileExists(atPath: file.url.path))
    }

    @Test func aFileThatHasTakenTheNameStays() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        let file = try await loseFilm(cache, server)
        try Data("the user's".utf8).write(to: file.url)
        let outcomes = try await cache.downloader().rehydrate()
        #expect(try Data(contentsOf: file.url) == Data("the user's".utf8))
        // A file with the name counts as the promoted one, whatever the user has done to it.
        #expect(outcomes.isEmpty)
    }

    @Test func withoutAURLItIsListedOnly() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        let file = try await loseFilm(cache, server, isRecorded: false)
        let outcomes = try await cache.downloader().rehydrate()
        #expect(outcomes.map(\.file.key) == ["film"])
        #expect(outcomes.first?.outcome == nil)
        #expect(server.requests.count == 1)
        #expect(!FileManager.default.fileExists(atPath: file.url.path))
    }

    @Test func aURLWithAPasswordIsNotRecorded() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        var request = try request(server)
        request.recordedURL = URL(string: "http://user:password@127.0.0.1/film")
        #expect(await cache.download(request).error?.reason == .cache(.item(.unsuitableURL)))
        #expect(server.requests.isEmpty)
    }
}

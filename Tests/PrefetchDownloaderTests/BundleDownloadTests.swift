import Foundation
import HTTPTestServer
import Synchronization
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Several files that are downloaded as one item.
@Suite struct BundleDownloadTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    /// The files of a server, by their paths.
    private final class Site: Sendable {
        private let resources: Mutex<[String: TestResource]>

        init(_ files: [String: Data]) {
            resources = Mutex(files.mapValues { TestResource($0) })
        }

        func change(_ path: String, _ body: @Sendable (inout TestResource) -> Void) {
            resources.withLock { resources in
                guard var resource = resources[path] else { return }
                body(&resource)
                resources[path] = resource
            }
        }

        func answer(to request: TestRequest) -> TestAnswer {
            resources.withLock { $0[request.target] }?.answer(to: request) ?? TestAnswer(404)
        }
    }

    private static let weights = noise(3_400_000, seed: 7)
    private static let files: [(path: FolderPath, content: Data)] = [
        ("config.json", Data("{}".utf8)), ("weights/a.bin", noise(1_500_000)), ("empty", Data()),
        ("weights/b.bin", weights), ("vocabulary.txt", Data("a b c".utf8)),
    ]
    private static let length = files.reduce(Int64(0)) { $0 + Int64($1.content.count) }

    private let site = Site(
        Dictionary(uniqueKeysWithValues: files.map { ("/" + $0.path.string, $0.content) }))

    private func request(
        _ server: HTTPTestServer, intent: Intent = .opportunistic,
        expecting expectations: [String: [ContentExpectation]] = [:]
    ) -> DownloadRequest {
        DownloadRequest(
            bundle: Self.files.map { file in
                BundleFile(
                    file.path, at: server.url("/" + file.path.string),
                    expecting: expectations[file.path.string] ?? [])
            },
            key: "item", destination: .documents("Model"), intent: intent, recordedURL: server.url("/"))
    }

    /// - Parameter count: How many answers with the larger weights break off, the first ones.
    private func server(cuttingWeights count: Int, after length: Int) throws -> HTTPTestServer {
        let left = Mutex(count)
        return try HTTPTestServer { request in
            let answer = site.answer(to: request)
            guard request.method == "GET", request.target == "/weights/b.bin" else { return answer }
            let isCut = left.withLock { left in
                left -= 1
                return left >= 0
            }
            return isCut ? answer.cut(after: length) : answer
        }
    }

    private func expectWhole(_ folder: URL) throws {
        for file in Self.files {
            #expect(
                try Data(contentsOf: folder.appending(path: file.path.string)) == file.content, "\(file.path)"
            )
        }
    }

    @Test func allFilesAreOneItem() async throws {
        let server = try HTTPTestServer { site.answer(to: $0) }
        #expect(await cache.download(request(server)).isStored)
        // First what they are, then what they contain; an empty file needs no second request.
        #expect(
            server.requests.map(\.method) == Array(repeating: "HEAD", count: 5)
                + Array(repeating: "GET", count: 4))
        #expect(try await cache.cache.statistics().items == 1)
        #expect(try await cache.cache.read("item", part: "weights/b.bin") == Self.weights)
        let opened = try #require(try await cache.cache.open("item"))
        #expect(opened.url.lastPathComponent == "Model")
        try expectWhole(opened.url)

        // The server is asked again, and sends no file again.
        try await cache.cache.forget("item")
        #expect(await cache.download(request(server)).isStored)
        #expect(await cache.download(request(server)) == .notModified)
        #expect(server.requests.count == 9 + 9 + 5)
        site.change("/config.json") { $0 = TestResource(Data("[]".utf8), entityTag: "\"2\"") }
        #expect(await cache.download(request(server)).isStored)
        #expect(try await cache.cache.read("item", part: "config.json") == Data("[]".utf8))
    }

    @Test func whatIsExpectedIsNotAskedFor() async throws {
        let server = try HTTPTestServer { site.answer(to: $0) }
        let expectations = Dictionary(
            uniqueKeysWithValues: Self.files.map { file in
                (
                    file.path.string,
                    [
                        ContentExpectation.length(Int64(file.content.count)),
                        .sha256(SHA256.digest(of: file.content)),
                    ]
                )
            })
        #expect(await cache.download(request(server, expecting: expectations)).isStored)
        #expect(server.requests.map(\.method) == Array(repeating: "GET", count: 4))
    }

    @Test(arguments: [Intent.opportunistic, .userRequested])
    func itGoesOnInTheMiddleOfAFile(intent: Intent) async throws {
        let server = try server(cuttingWeights: 2, after: 1_200_000)
        let outcome = await cache.download(request(server, intent: intent))
        let rest = server.requests.filter { $0.target == "/weights/b.bin" && $0.method == "GET" }
        #expect(rest.count == 3)
        // To the whole chunks of the bundle: what precedes the file has 1,500,002 bytes.
        #expect(rest.map { $0.rangeStart } == [nil, (2 << 20) - 1_500_002, (3 << 20) - 1_500_002])
        #expect(rest.dropFirst().allSatisfy { $0.headers["if-range"] == "\"1\"" })
        #expect(server.requests.filter { $0.target == "/weights/a.bin" && $0.method == "GET" }.count == 1)
        switch outcome {
        case .stored: try expectWhole(try #require(try await cache.cache.open("item")).url)
        case .delivered(let file): try expectWhole(file.url)
        default: Issue.record("\(outcome)")
        }
        #expect(try await cache.keptBytes() == 0)
    }

    @Test(arguments: [200, 206, 416, 501])
    func whereTheRestIsNotToBeHadItStartsOver(status: Int) async throws {
        let once = Once()
        let server = try HTTPTestServer { request in
            let answer = site.answer(to: request)
            guard request.method == "GET", request.target == "/weights/b.bin" else { return answer }
            if request.rangeStart != nil {
                return status == 200
                    ? TestAnswer(200, body: Self.weights) : TestAnswer(status, body: Data("rest".utf8))
            }
            return once.isFirst ? answer.cut(after: 2_200_000) : answer
        }
        #expect(await cache.download(request(server)).isStored)
        try expectWhole(try #require(try await cache.cache.open("item")).url)
    }

    @Test func twoVersionsAreNotMixed() async throws {
        let newer = noise(1_500_000, seed: 9)
        let once = Once()
        let server = try HTTPTestServer { request in
            if request.method == "GET", request.target == "/weights/b.bin", once.isFirst {
                site.change("/weights/a.bin") { $0 = TestResource(newer, entityTag: "\"2\"") }
                return site.answer(to: request).cut(after: 2_000_000)
            }
            return site.answer(to: request)
        }
        #expect(await cache.download(request(server)).isStored)
        #expect(try await cache.cache.read("item", part: "weights/a.bin") == newer)
        #expect(try await cache.cache.read("item", part: "weights/b.bin") == Self.weights)
    }

    @Test func aFileThatChangesAfterItWasAnnouncedIsNotTaken() async throws {
        let server = try HTTPTestServer { request in
            defer {
                if request.method == "GET", request.target == "/config.json" {
                    site.change("/vocabulary.txt") {
                        $0 = TestResource(Data("c b a".utf8), entityTag: "\"2\"")
                    }
                }
            }
            return site.answer(to: request)
        }
        let first = await cache.download(request(server)) { $0.attempts = 1 }
        #expect(first.error?.reason == .changed("vocabulary.txt"))
        #expect(await cache.download(request(server)).isStored)
        #expect(try await cache.cache.read("item", part: "vocabulary.txt") == Data("c b a".utf8))
    }

    @Test func aWrongDigestOfOneFileKeepsNothing() async throws {
        let server = try HTTPTestServer { site.answer(to: $0) }
        let wrong = Array(repeating: UInt8(1), count: 32)
        let outcome = await cache.download(request(server, expecting: ["weights/a.bin": [.sha256(wrong)]])) {
            $0.attempts = 1
        }
        let actual = SHA256.digest(of: Self.files[1].content)
        #expect(outcome.error?.reason == .wrongDigest(expected: wrong, actual: actual))
        #expect(try await cache.keptBytes() == 0)
        // What follows was not requested.
        #expect(!server.requests.contains { $0.method == "GET" && $0.target == "/weights/b.bin" })
    }

    /// The last file, after which no byte comes.
    @Test(arguments: [true, false])
    func anEmptyFileHasADigest(isRight: Bool) async throws {
        let server = try HTTPTestServer { [site = Site(["/a": Data("a".utf8), "/b": Data()])] in
            site.answer(to: $0)
        }
        let digest = SHA256.digest(of: isRight ? Data() : Data("b".utf8))
        let request = DownloadRequest(
            bundle: [
                BundleFile("a", at: server.url("/a")),
                BundleFile("b", at: server.url("/b"), expecting: [.sha256(digest)]),
            ],
            key: "item", destination: .documents("Model"))
        let outcome = await cache.download(request) { $0.attempts = 1 }
        #expect(outcome.isStored == isRight)
        let actual = SHA256.digest(of: Data())
        #expect(outcome.error?.reason == (isRight ? nil : .wrongDigest(expected: digest, actual: actual)))
    }

    @Test func aFileOfUnknownLengthIsNotBegun() async throws {
        let server = try HTTPTestServer { request in
            var answer = site.answer(to: request)
            if request.target == "/weights/b.bin" {
                answer.announcedLength = nil
                answer.ending = .drop
            }
            return answer
        }
        let outcome = await cache.download(request(server))
        #expect(outcome.error?.reason == .unknownLength("weights/b.bin"))
        let length = ["weights/b.bin": [ContentExpectation.length(Int64(Self.weights.count))]]
        #expect(await cache.download(request(server, expecting: length)).isStored)
    }

    @Test func aServerThatKnowsNoHeadIsAskedForTheFile() async throws {
        let server = try HTTPTestServer { $0.method == "HEAD" ? TestAnswer(405) : site.answer(to: $0) }
        #expect(await cache.download(request(server)).isStored)
        try expectWhole(try #require(try await cache.cache.open("item")).url)
    }

    @Test func roomForAllIsNeededBeforeTheFirstByte() async throws {
        let volume = ToldVolume(VolumeState(total: 1 << 34, available: 505 << 20))
        let cache = try await TestCache(volume: volume)
        let server = try HTTPTestServer { site.answer(to: $0) }
        let outcome = await cache.download(request(server, intent: .userRequested))
        #expect(try #require(outcome.neededBytes) >= Self.length)
        #expect(!server.requests.contains { $0.method == "GET" })
        #expect(try FileManager.default.contentsOfDirectory(atPath: cache.documents.path).isEmpty)

        let small = try await TestCache(budget: .mebibytes(4))
        #expect(await small.download(request(server)).refusal != nil)
        #expect(!server.requests.contains { $0.method == "GET" })
    }

    @Test func everyHostMustBeAllowed() async throws {
        let server = try HTTPTestServer { _ in TestAnswer(200) }
        var request = request(server)
        request.files[3].urlRequest.url = URL(string: "https://elsewhere.example/b.bin")
        #expect(await cache.download(request).error?.reason == .hostNotAllowed)
        #expect(server.requests.isEmpty)
        request.files = []
        #expect(
            await cache.download(DownloadRequest(bundle: [], key: "item", destination: .documents("a")))
                .error?.reason == .unsupportedURL)
    }

    @Test func anOpenedBundleIsReplacedByANewerVersion() async throws {
        let server = try HTTPTestServer { site.answer(to: $0) }
        var request = request(server)
        request.whenPromoted = .replaceIfUnmodified
        #expect(await cache.download(request).isStored)
        let opened = try #require(try await cache.cache.open("item"))
        #expect(await cache.download(request).alreadyPromoted != nil)
        #expect(!server.requests.suffix(5).contains { $0.method == "GET" })

        site.change("/config.json") { $0 = TestResource(Data("[]".utf8), entityTag: "\"2\"") }
        let newer = try #require(await cache.download(request).delivered)
        #expect(newer.path == opened.path)
        #expect(try Data(contentsOf: newer.url.appending(path: "config.json")) == Data("[]".utf8))

        try Data("mine".utf8).write(to: newer.url.appending(path: "config.json"))
        site.change("/config.json") { $0 = TestResource(Data("()".utf8), entityTag: "\"3\"") }
        let count = server.requests.count
        #expect(await cache.download(request).alreadyPromoted != nil)
        #expect(server.requests.count == count)
        #expect(try Data(contentsOf: newer.url.appending(path: "config.json")) == Data("mine".utf8))
    }

    @Test func anOpenedFileIsReplacedByANewerVersion() async throws {
        let resource = Mutex(TestResource(content))
        let server = try HTTPTestServer { request in resource.withLock { $0.answer(to: request) } }
        var request = DownloadRequest(server.url())
        request.whenPromoted = .replaceIfUnmodified
        #expect(await cache.download(request).isStored)
        let opened = try #require(try await cache.cache.open("item"))
        #expect(await cache.download(request).alreadyPromoted != nil)
        #expect(server.requests.last?.headers["if-none-match"] == "\"1\"")
        let newer = noise(3_000_000, seed: 3)
        resource.withLock { $0 = TestResource(newer, entityTag: "\"2\"") }
        let file = try #require(await cache.download(request).delivered)
        #expect(file.path == opened.path)
        #expect(try Data(contentsOf: file.url) == newer)
    }

    @Test func aLostBundleIsDownloadedAgain() async throws {
        let server = try HTTPTestServer { site.answer(to: $0) }
        let file = try #require(await cache.download(request(server, intent: .userRequested)).delivered)
        try FileManager.default.removeItem(at: file.url)
        let again = try #require(try await cache.rehydrate()["item"]?.delivered)
        #expect(again.path == file.path)
        try expectWhole(again.url)
    }
}

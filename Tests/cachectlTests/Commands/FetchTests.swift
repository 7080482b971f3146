import Foundation
import HTTPTestServer
import PrefetchDownloading
import Testing

@Suite struct FetchTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    /// A server with one content at every path.
    private func server(_ content: Data = text) throws -> HTTPTestServer {
        let resource = TestResource(content)
        return try HTTPTestServer { resource.answer(to: $0) }
    }

    private func hexadecimal(_ content: Data) -> String {
        SHA256.digest(of: content).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func serversMayCompressUnlessTheyAreAskedNotTo() async throws {
        let server = try server()
        try await container.succeed("fetch", server.url("/a").absoluteString)
        try await container.succeed("fetch", server.url("/b").absoluteString, "--uncompressed")
        #expect(server.requests.map { $0.headers["accept-encoding"] } == ["gzip", "identity"])
    }

    @Test func aPageIsStoredForAnEpisodeOnlyIfAnythingMayBe() async throws {
        let server = try HTTPTestServer { _ in
            TestAnswer(200, ["Content-Type": "text/html"], body: Data("<html>".utf8))
        }
        let url = server.url("/episode.mp3").absoluteString
        let outcome = try await container.cachectl("fetch", url, "--key", "k", "--tries", "1")
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("text/html") && outcome.errors.contains("--any-type"))
        try await container.succeed("fetch", url, "--key", "k", "--any-type")
    }

    @Test func aListIsReadFromAFileOrFromStandardInput() async throws {
        let server = try server()
        let list = """
            # Episodes
            \(server.url("/a"))

            \(server.url("/b"))\tkey b\r
            \(server.url("/c"))\t\t\(hexadecimal(text))
            """
        let file = try container.folder.write(Data(list.utf8), to: "list").path
        #expect(
            try await container.succeed("fetch", "--from-file", file).text.split(separator: "\n").count == 3
        )
        let keys = Set(try await container.list().compactMap { $0["key"] as? String })
        #expect(keys == ["key b", server.url("/a").absoluteString, server.url("/c").absoluteString])
        try await container.succeed("fetch", "--from-file", "-", "--replace", input: Data(list.utf8))
        #expect(server.requests.count == 6)
    }

    @Test func aBadLineIsNamedAndTheOthersAreFetched() async throws {
        let server = try server()
        let long = String(repeating: "a", count: 5000)
        let list = """
            \(server.url("/a"))\ta

            ftp://u:geheim@example.org/a
            \(server.url("/b"))\tk\tabc
            \(server.url("/b"))\tk\t\t4
            \(server.url("/b"))\t\(long)
            \(server.url("/b"))\ta
            \(server.url("/\(long)"))
            http://127.0.0.1:\(server.port)/my file [1].mp3\tz
            """
        let input = Data(list.utf8) + [0x0A, 0xFF, 0x0A]
        let outcome = try await container.cachectl("fetch", "--from-file", "-", input: input)
        #expect(outcome.status == 64)
        for problem in [
            "line 3: 'ftp://…@example.org/a' is not a valid http or https URL",
            "line 4: 'abc' is not a SHA-256",
            "line 5: 4 columns are too many", "line 6: the key has 5000 bytes", "line 10: this is not UTF-8",
            "the key 'a' is used for two downloads",
        ] {
            #expect(outcome.errors.contains(problem), "\(outcome.errors)")
        }
        #expect(outcome.errors.split(separator: "\n").count == 6 && !outcome.errors.contains("geheim"))
        #expect(Set(server.requests.map(\.target)) == ["/a", "/\(long)", "/my%20file%20%5B1%5D.mp3"])
        #expect(try await container.list().count == 3)
        let json = try await container.cachectl("fetch", "--from-file", "-", "--json", input: input)
        #expect(json.status == 64 && json.errors.split(separator: "\n").count == 7)
        #expect(json.errors.contains("6 of 9 items failed"))
        // A bundle is whole or not at all.
        let bundle = try await container.cachectl("fetch", "--bundle", "b", "--from-file", "-", input: input)
        #expect(bundle.status == 64 && bundle.errors.contains("line 3: "))
        #expect(try await container.cachectl("fetch", "--from-file", "missing").status == 66)
        #expect(server.requests.count == 6)
    }

    @Test func jsonTellsWhatHappensAsItDoes() async throws {
        let server = try server(noise(5 << 20, seed: 1))
        let outcome = try await container.cachectl(
            "fetch", "--json", "--key", "k", server.url("/a").absoluteString)
        let events = try FetchEvent.all(in: outcome.output)
        #expect(events.allSatisfy { $0.key == "k" && $0.url == server.url("/a").absoluteString })
        #expect(events.last?.event == "finished")
        #expect(events.last?.outcome == "stored")
        let progress = events.filter { $0.event == "progress" }
        #expect(progress.last?.completedBytes == 5 << 20)
        #expect(progress.allSatisfy { $0.totalBytes == 5 << 20 })
        #expect(progress.count <= 101)
    }

    @Test func credentialsAreSentAndNeverPrinted() async throws {
        let server = try HTTPTestServer { request in
            request.headers["authorization"] == "Basic " + Data("me:ge/heim".utf8).base64EncodedString()
                ? TestAnswer(body: text) : TestAnswer(401)
        }
        let plain = server.url("/a").absoluteString
        let url = plain.replacing("http://", with: "http://me:ge%2Fheim@")
        for options in [["--verbose"], ["--json", "--replace"]] {
            let outcome = try await container.cachectl(["fetch", url] + options)
            #expect(outcome.status == 0)
            #expect(!outcome.text.contains("heim") && !outcome.errors.contains("heim"))
        }
        #expect(try await container.list().first?["key"] as? String == plain)
        #expect(try container.folder.files(with: text).isEmpty)
        let refused = try await container.cachectl("fetch", plain, "--replace")
        #expect(refused.status == 69)
        #expect(refused.errors.contains("user and password can be given in the URL"))
    }

    @Test func aRedirectToAnotherHostIsRefusedUnlessItIsAllowed() async throws {
        let other = try server()
        let target = other.url("/b", host: "localhost").absoluteString
        let server = try HTTPTestServer { _ in TestAnswer(302, ["Location": target]) }
        let outcome = try await container.cachectl("fetch", server.url("/a").absoluteString)
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("--allow-host"))
        #expect(other.requests.isEmpty)
        try await container.succeed("fetch", server.url("/a").absoluteString, "--allow-host", "localhost")
        #expect(other.requests.count == 1)
    }

    @Test func aReaderThatGoesAwayEndsTheDownloads() async throws {
        let server = try server()
        let url = server.url().absoluteString
        #expect(
            try container.shell("$CACHECTL fetch --json \(url) --container $CONTAINER | true").status == 0)
    }
}

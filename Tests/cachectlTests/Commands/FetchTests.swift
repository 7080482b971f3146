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

    @Test func aURLBecomesAnItem() async throws {
        let server = try server()
        let url = server.url("/daily/A%20name.txt?quality=1").absoluteString
        let output = try await container.succeed("fetch", url + "#part", "--to", "documents").text
        #expect(output.hasPrefix("stored \(url): "))
        #expect(output.split(separator: "\n").count == 1)
        #expect(try await container.succeed("cat", url).output == text)
        let item = try #require(try await container.list().first)
        #expect(item["source"] as? String == "127.0.0.1")
        let path = try await container.succeed("open", url).text
        #expect(path == container.root.appending(path: "Documents/A name.txt").path + "\n")
        #expect(try await container.succeed("fetch", url).text.hasPrefix("already opened \(url): "))
    }

    @Test func optionsSayWhatTheItemIs() async throws {
        let server = try server()
        try await container.succeed(
            "fetch", server.url().absoluteString, "--key", "k", "--source", "daily", "--to", "documents",
            "--folder", "Podcasts", "--name", "A.txt", "--priority", "0.5", "--expires", "7d", "--sha256",
            hexadecimal(text))
        let item = try #require(try await container.list().first)
        #expect(item["key"] as? String == "k")
        #expect(item["source"] as? String == "daily")
        #expect(item["priority"] as? Double == 0.5)
        #expect(item["expiresAtMilliseconds"] is Int)
        let path = try await container.succeed("open", "k").text
        #expect(path == container.root.appending(path: "Documents/Podcasts/A.txt").path + "\n")
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

    @Test func redirectsAreFollowedAsFarAsIsSaid() async throws {
        let server = try HTTPTestServer { request in
            let step = Int(request.target.dropFirst()) ?? 0
            return step == 0 ? TestAnswer(body: text) : TestAnswer(302, ["Location": "/\(step - 1)"])
        }
        try await container.succeed("fetch", server.url("/20").absoluteString)
        let outcome = try await container.cachectl("fetch", server.url("/21").absoluteString)
        #expect(outcome.status == 69 && outcome.errors.contains("the server redirected more than 20 times"))
        try await container.succeed("fetch", server.url("/21").absoluteString, "--redirects", "21")
        #expect(
            try await container.cachectl("fetch", server.url("/1").absoluteString, "--redirects", "0").status
                == 69)
        #expect(
            try await container.cachectl("fetch", server.url("/1").absoluteString, "--redirects", "-1").status
                == 64
        )
    }

    @Test func whatIsStoredIsRevalidatedKeptOrReplaced() async throws {
        let server = try server()
        let url = server.url("/a").absoluteString
        try await container.succeed("fetch", url, url)
        #expect(server.requests.count == 1)
        #expect(try await container.succeed("fetch", url).text == "unchanged \(url)\n")
        #expect(try await container.succeed("fetch", url, "--keep").text == "kept \(url)\n")
        #expect(server.requests.count == 2)
        #expect(try await container.succeed("fetch", url, "--replace").text.hasPrefix("stored "))
        #expect(server.requests.last?.headers["if-none-match"] == nil)
        try await container.succeed("open", url)
        #expect(try await container.succeed("fetch", url, "--anew").text.hasPrefix("stored "))
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

    /// What is wrong with content counts for more than a server that fails, and that for more than a refusal.
    @Test func theGravestFailureIsTheExitCodeAndTheOthersAreFetched() async throws {
        let server = try HTTPTestServer { request in
            request.target == "/gone" ? TestAnswer(404) : TestAnswer(body: text)
        }
        let urls = ["/gone", "/a"].map { server.url($0).absoluteString }
        let outcome = try await container.cachectl(["fetch"] + urls)
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("the server answered 404"))
        #expect(outcome.text.hasPrefix("stored "))
        try await container.succeed("configure", "--largest", "1KiB")
        let refused = try await container.cachectl(["fetch", "--replace"] + urls)
        #expect(refused.status == 69)
        #expect(refused.errors.split(separator: "\n").count == 2)
    }

    @Test func contentThatIsNotWhatWasExpectedIsNotStored() async throws {
        let server = try server()
        let outcome = try await container.cachectl(
            "fetch", "--json", "--key", "k", server.url().absoluteString, "--sha256",
            hexadecimal(Data("other".utf8)))
        #expect(outcome.status == 65)
        let last = try #require(try FetchEvent.all(in: outcome.output).last)
        #expect(last.exitCode == 65)
        #expect(last.message?.contains("SHA-256") == true)
        #expect(try outcome.failure.message == "1 of 1 item failed")
        #expect(try await container.list().isEmpty)
    }

    @Test func whatIsRefusedIsNotDownloaded() async throws {
        try await container.configure(#"{"budgetBytes":1000000}"#)
        let gate = Gate()
        let resource = TestResource(noise(5 << 20, seed: 1))
        // The rest is sent when it is too late.
        let server = try HTTPTestServer { resource.answer(to: $0).after(65_536) { gate.wait() } }
        let outcome = try await container.cachectl(
            "fetch", "--json", "--key", "k", server.url().absoluteString)
        gate.open()
        #expect(outcome.status == 75)
        let last = try #require(try FetchEvent.all(in: outcome.output).last)
        #expect(last.outcome == "refused")
        #expect(last.refused == "largerThanLargestItem")
        #expect(last.message?.contains("'cachectl configure --largest'") == true)
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

    @Test func plainHTTPToOtherMachinesIsRefused() async throws {
        // An address that is reserved for documentation (RFC 5737), and is not asked.
        let outcome = try await container.cachectl("fetch", "http://192.0.2.1/a")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--allow-insecure"))
    }

    @Test func namesAreEscaped() async throws {
        let server = try server()
        let output = try await container.succeed("fetch", server.url().absoluteString, "--key", "a\u{1B}[2Jb")
            .text
        #expect(output.hasPrefix(#"stored a\u{1B}[2Jb: "#))
    }

    @Test func aReaderThatGoesAwayEndsTheDownloads() async throws {
        let server = try server()
        let url = server.url().absoluteString
        #expect(
            try container.shell("$CACHECTL fetch --json \(url) --container $CONTAINER | true").status == 0)
    }
}

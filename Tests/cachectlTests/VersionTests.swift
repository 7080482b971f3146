import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import cachectl

@Suite struct VersionTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test(arguments: [["--version"], ["stats", "--version"]])
    func theVersionsOfTheProgramAndItsFormatsArePrinted(_ arguments: [String]) async throws {
        let outcome = try await Tool.run(arguments, in: container.folder)
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        let lines = outcome.text.split(separator: "\n")
        try #require(lines.count == 2)
        #expect(lines[0].wholeMatch(of: /cachectl (\d+\.\d+\.\d+)(, commit [0-9a-f]+(-dirty)?)?/) != nil)
        #expect(lines[1].hasPrefix("formats: item 1, partial item 1, record "))
        #expect(lines[1].hasSuffix(", JSON \(JSON.schemaVersion)"))
    }

    @Test func serversLearnWhoDownloads() async throws {
        let server = try HTTPTestServer { TestResource(text).answer(to: $0) }
        try await container.succeed("fetch", server.url("/a").absoluteString)
        #expect(server.requests.map { $0.headers["user-agent"] } == ["cachectl/\(PrefetchCache.version)"])
    }
}

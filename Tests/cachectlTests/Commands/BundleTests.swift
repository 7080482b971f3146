import Foundation
import HTTPTestServer
import Testing

@Suite struct BundleTests {
    @Test func aListNamesTheFilesOfABundle() async throws {
        let container = try Container()
        let picture = noise(3_000_000, seed: 4)
        let server = try HTTPTestServer { request in
            request.target == "/index.html"
                ? TestResource(text).answer(to: request) : TestResource(picture).answer(to: request)
        }
        let list = "\(server.url("/index.html"))\n\(server.url("/42.png"))\timages/cover.png\n"
        try container.folder.write(Data(list.utf8), to: "list")
        try await container.succeed(
            "fetch", "--bundle", "guide", "--from-file", container.folder.file("list").path, "--to",
            "documents")
        #expect(
            try await container.succeed("cat", "guide", "--file", "images/cover.png").output == picture)
        let opened = try await container.succeed("open", "guide").text
        let folder = URL(filePath: String(opened.dropLast()))
        #expect(try Data(contentsOf: folder.appending(path: "index.html")) == text)
    }
}

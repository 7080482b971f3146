import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import cachectl

@Suite struct ReportTests {
    let container: Container

    init() throws {
        container = try Container()
        try container.succeed("put", "k", "-", "--source", "feeds.example.org", input: text)
    }

    private func report(_ arguments: String...) throws -> Tool.Outcome {
        try Tool.run(
            Tool.path, ["report", "--container", container.root.path] + arguments, in: container.folder)
    }

    private var page: Data { get throws { try Data(contentsOf: container.folder.file("r.html")) } }

    @Test func aPageIsWrittenWhole() throws {
        let outcome = try report("--html", "r.html")
        #expect(outcome.status == 0)
        #expect(outcome.text == "wrote r.html\n")
        let text = try String(decoding: page, as: UTF8.self)
        #expect(text.hasPrefix("<!doctype html>\n") && text.hasSuffix("</html>\n"))
        #expect(text.contains("feeds.example.org"))
        let left = try FileManager.default.contentsOfDirectory(atPath: container.folder.url.path)
        #expect(Set(left) == ["container", "r.html"])
    }

    @Test func allFilesAreInItWithWhatIsWrong() throws {
        try container.write("log", to: "Documents/app.log")
        let manifest = try container.folder.write(
            Data(
                """
                {"version": 1, "entries": [{"path": "Documents/**", "what": "What <we> log", "why": "To mend it.",
                 "area": "documents", "backup": "system", "regenerable": false}]}
                """.utf8), to: "storage.json")
        #expect(try report("--html", "r.html", "--manifest", manifest.path).status == 0)
        let text = try String(decoding: page, as: UTF8.self)
        for part in [
            "<h2 id=\"purposes-h\">All files, by area and purpose</h2>", "What &lt;we&gt; log",
            "cached items", "log-among-documents",
            "Move it to Caches", "in backups",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func standardOutputGetsThePageAndNothingElse() throws {
        for more in [[], ["--json"]] {
            let outcome = try container.cachectl("report", "--html", "-", more.first ?? "--quiet")
            #expect(outcome.status == 0)
            #expect(outcome.text.hasPrefix("<!doctype html>\n") && outcome.text.hasSuffix("</html>\n"))
        }
    }

    @Test func aFileThatIsThereIsReplacedOnlyByForce() throws {
        try container.folder.write(Data("mine".utf8), to: "r.html")
        let refused = try report("--html", "r.html")
        #expect(refused.status == 73)
        #expect(refused.errors.contains("--force"))
        #expect(try page == Data("mine".utf8))
        #expect(try report("--html", "r.html", "--force", "--quiet").text.isEmpty)
        #expect(try page.count > 1000)
    }

    @Test func aFileThatIsReplacedKeepsWhoMayReadIt() throws {
        let file = try container.folder.write(Data("mine".utf8), to: "r.html").path
        #expect(chmod(file, 0o600) == 0)
        // Only root may give a file away.
        let isRoot = geteuid() == 0
        if isRoot { #expect(chown(file, 12_345, 23_456) == 0) }
        #expect(try report("--html", "r.html", "--force").status == 0)
        #expect(try page.count > 1000)
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        #expect(!isRoot || (status.st_uid, status.st_gid) == (12_345, 23_456))
    }

    /// Somebody else may not read what the old owner kept to himself.
    @Test func aFileWhoseOwnerCannotBeKeptIsNotReplaced() throws {
        let file = try container.folder.write(Data("mine".utf8), to: "r.html")
        let fileSystem = InterceptingFileSystem { operation throws(FileSystemError) in
            guard operation.kind == .setPermissions else { return }
            throw FileSystemError("fchown", errno: .notPermitted)
        }
        let new = NewFile(FilePath(file.path), replacing: true, in: fileSystem)
        #expect { try new.write("page") } throws: { error in
            (error as? CommandFailure)?.code == .notPermitted
        }
        #expect(try page == Data("mine".utf8))
        let left = try FileManager.default.contentsOfDirectory(atPath: container.folder.url.path)
        #expect(Set(left) == ["container", "r.html"])
    }

    @Test func whatIsNoFileIsLeftAloneEvenByForce() throws {
        try FileManager.default.createDirectory(
            at: container.folder.file("folder"), withIntermediateDirectories: false)
        try container.folder.write(Data("mine".utf8), to: "file")
        try FileManager.default.createSymbolicLink(
            atPath: container.folder.file("link").path, withDestinationPath: "file")
        for name in ["folder", "link"] {
            #expect(try report("--html", name, "--force").status == 73)
        }
        #expect(try report("--html", "nowhere/r.html").status == 73)
        #expect(try report("--html", "..").status == 64)
        #expect(try Data(contentsOf: container.folder.file("file")) == Data("mine".utf8))
    }

    @Test func jsonTellsWhatWasWritten() throws {
        let object = try container.json("report", "--html", "r.html")
        #expect(object["path"] as? String == "r.html")
        #expect(try object["bytes"] as? Int == page.count)
    }
}

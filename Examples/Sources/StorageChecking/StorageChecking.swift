import Foundation
import StorageInventory
import Storytelling

/// How an app's tests find out that it stores something where it does not belong: an app that makes two mistakes, and the
/// version of it that does not.
@main
struct StorageChecking {
    static func main() async {
        await Demonstration.run { container, report in
            print("An app's files, checked by the rules of storage")
            let app = container.appending(path: "app")
            report.step("The app is used")
            try write("Dear diary", to: app.appending(path: "Documents/Diary.txt"))
            let log = app.appending(path: "Documents/app.log")
            try write("opened the diary", to: log)
            let map = app.appending(path: "Library/Application Support/org.example.diary/Cache/map.tiles")
            try write("a map, in pieces", to: map)
            let before = try await StorageCheck(ofContainer: app)
            for finding in before.findings { report.line("\(finding)") }
            report.check(
                "the log and the map are found",
                before.findings.map(\.rule.name) == ["cached-data-backed-up", "log-among-documents"])

            report.step("The next version keeps both in Caches")
            for file in [log, map] {
                try FileManager.default.removeItem(at: file)
                let name = file.lastPathComponent
                try write("", to: app.appending(path: "Library/Caches/org.example.diary/\(name)"))
            }
            let after = try await StorageCheck(ofContainer: app)
            report.check("\(after)", after.findings.isEmpty)

            report.step("What every file is for, says a manifest")
            // A test has it as a resource of its bundle.
            let manifest = container.appending(path: "storage.json")
            let text = """
                {
                  "version": 1,
                  "entries": [
                    {
                      "path": "Documents/*.txt", "what": "The diary", "why": "The user writes it.",
                      "area": "documents", "backup": "include", "regenerable": false
                    }
                  ]
                }
                """
            try write(text, to: manifest)
            let explained = try await StorageCheck(ofContainer: app, manifest: manifest)
            for finding in explained.findings { report.line("\(finding)") }
            report.check(
                "it explains the diary, and nothing else",
                explained.findings.map(\.files) == [2] && explained.findings[0].rule.name == "unexplained")
        }
    }

    private static func write(_ text: String, to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}

import Foundation
import StorageInventory
import Storytelling

/// How an app's tests find out that it stores something where it does not belong.
@main
struct StorageChecking {
    static func main() async {
        await Demonstration.run(named: "StorageChecking") { container in
            var report = Report()
            print("An app's files, checked by the rules of storage")
            try await Story(container: container).tell(&report)
            return report
        }
    }
}

/// An app that makes two mistakes, and the version of it that does not.
private struct Story {
    let container: URL

    func tell(_ report: inout Report) async throws {
        report.step("The app is used")
        try write("Dear diary", to: "Documents/Diary.txt")
        try write("opened the diary", to: "Documents/app.log")
        try write("a map, in pieces", to: "Library/Application Support/org.example.diary/Cache/map.tiles")
        let before = try await StorageCheck(ofContainer: container)
        for finding in before.findings { report.line("\(finding)") }
        let rules = before.findings.map(\.rule.name)
        report.check(
            "the log and the map are found", rules == ["cached-data-backed-up", "log-among-documents"])

        report.step("The next version keeps both in Caches")
        try move("Documents/app.log", to: "Library/Caches/org.example.diary/app.log")
        try move(
            "Library/Application Support/org.example.diary", to: "Library/Caches/org.example.diary/Map")
        let after = try await StorageCheck(ofContainer: container)
        report.check("\(after)", after.findings.isEmpty)

        report.step("What every file is for, says a manifest")
        let manifest = container.appendingPathExtension("storage.json")
        defer { report.check("the manifest is removed", remove(manifest)) }
        try Data(
            """
            {
              "version": 1,
              "entries": [
                {
                  "path": "Documents/*.txt", "what": "The diary", "why": "The user writes it.",
                  "area": "documents", "backup": "include", "regenerable": false
                }
              ]
            }
            """.utf8
        ).write(to: manifest)
        let explained = try await StorageCheck(ofContainer: container, manifest: manifest)
        for finding in explained.findings { report.line("\(finding)") }
        report.check(
            "it explains the diary, and nothing else",
            explained.findings.map(\.files) == [2] && explained.findings[0].rule.name == "unexplained")
    }

    private func write(_ text: String, to path: String) throws {
        let file = container.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func move(_ path: String, to target: String) throws {
        let file = container.appending(path: target)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: container.appending(path: path), to: file)
    }

    private func remove(_ file: URL) -> Bool {
        do {
            try FileManager.default.removeItem(at: file)
            return true
        } catch {
            return false
        }
    }
}

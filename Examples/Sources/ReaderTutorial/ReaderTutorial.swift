import Foundation
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// The program of the tutorial "An offline documentation reader": ``Reader`` is the app, and this what its user does.
@main
struct ReaderTutorial {
    let reader: Reader
    let server: MediaServer

    static func main() async {
        await Demonstration.run { container, report in
            try await MediaServer.serving(in: container.appending(path: "server")) { server in
                let areas = try StorageAreas.container(at: container.appending(path: "app"))
                    .excluding(into: "org.example.reader")
                let cache = try await PrefetchCache(areas: areas)
                let downloader = PrefetchDownloader(
                    cache: cache, configuration: DownloaderConfiguration(hosts: ["127.0.0.1"]))
                let reader = Reader(cache: cache, downloader: downloader)
                try await ReaderTutorial(reader: reader, server: server).tell(&report)
                try await cache.close()
            }
        }
    }

    private func tell(_ report: inout Report) async throws {
        let guide: ItemKey = "The Guide"
        report.step("Prefetch the set")
        report.check("it is cached", isStored(try await update("The Guide", "1.0", chapters: 10, report)))

        report.step("Read it without opening it")
        report.line(try await reader.headings(of: guide).joined(separator: "  "))
        for path in try await reader.search("Actors", in: guide) { report.line("found in \(path)") }
        report.check("none of that is a use", try await reader.cache.statistics().figures.hits == 0)
        let page = try await reader.cache.read(guide, part: "actors.md")
        report.line("the user reads actors.md, \(page?.count ?? 0) bytes")
        report.check("that is one", try await reader.cache.statistics().figures.hits == 1)

        report.step("A new version")
        report.check("it is cached", isStored(try await update("The Guide", "1.1", chapters: 11, report)))
        let found = try await reader.search("Continuations", in: guide)
        report.check("its new page is found", found == ["actors.md", "continuations.md"])

        report.step("The user opens the set")
        guard let folder = try await reader.cache.open(guide) else {
            throw StoryError("the set is not there")
        }
        report.line("\(folder.location.path), \(folder.parts.count) pages, \(folder.contentBytes.asBytes)")
        let isThere = FileManager.default.fileExists(atPath: folder.url.appending(path: "basics.md").path)
        report.check("its pages are files", isThere)

        report.step("A newer version of what the user has")
        guard case .delivered(let newer) = try await update("The Guide", "1.2", chapters: 12, report) else {
            throw StoryError("the set was not replaced")
        }
        report.check("it is where the older one was", newer.url == folder.url && newer.parts.count == 12)

        report.step("A set that expires")
        let notes = try await update("Beta Notes", "0.9", chapters: 2, expires: .now + 2, report)
        report.check("it is cached", isStored(notes))
        // Apps cannot set the clock of the cache, so the time has to pass.
        try await Task.sleep(for: .seconds(2))
        let lookup = try await reader.cache.lookUp("Beta Notes")
        if case .miss(let miss) = lookup { report.line("after two seconds it is a miss: \(miss)") }
        report.check("it has left the cache", try await reader.cache.contains("Beta Notes") == false)
    }

    private func update(
        _ title: String, _ version: String, chapters: Int, expires date: Date? = nil, _ report: Report
    ) async throws -> DownloadOutcome {
        let url = try Documentation.publish(title, version: version, chapters: chapters, on: server)
        guard let set = try await reader.index(at: url) else { throw StoryError("there is no index") }
        let outcome = try await reader.update(set, expires: date)
        switch outcome {
        case .stored(let summary):
            report.line(
                "\(title) \(set.version): \(set.pages.count) pages, \(summary.contentBytes.asBytes),"
                    + " stored in \(summary.storedBytes.percent(of: summary.contentBytes)) % of that")
        case .delivered(let folder): report.line("\(folder.location.path) is version \(set.version)")
        default: report.line("\(title) \(set.version): \(outcome)")
        }
        return outcome
    }

    private func isStored(_ outcome: DownloadOutcome) -> Bool {
        if case .stored = outcome { true } else { false }
    }
}

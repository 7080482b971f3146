import Foundation
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading
@testable import cachectl

/// What people read, command by command; see ``Transcript``. Prose may be improved.
@Suite struct GoldenTextTests {
    @Test(arguments: [
        "bundle", "cat", "configure", "draft", "events", "evict", "fetch", "forget", "inventory", "list",
        "maintenance", "manifest", "marks", "migrate", "put", "rules", "show", "stats", "story",
    ])
    func whatIsPrintedIsWhatWasPrinted(_ name: String) async throws {
        try await Transcript(isJSON: false).expect("Text/\(name)")
    }
}

/// The JSON of every command, line by line: names, order, layout, and all values that are the same on any machine.
/// Scripts rely on it. Names may be added; any other change needs a new `schemaVersion`.
@Suite struct GoldenJSONTests {
    @Test(arguments: [
        "downloads", "events", "inventory", "items", "maintenance", "migrations", "partials", "volume",
    ])
    func theJSONIsWhatItWas(_ name: String) async throws {
        try await Transcript(isJSON: true).expect(name)
    }

    /// What a test can hardly make a server, a volume and a second process do.
    @Test func ofRareEvents() throws {
        let target = try FetchTarget("https://user:password@example.org/a", key: "k")
        let error = DownloadError(
            key: "k", origin: "https://example.org", reason: .stalled(.seconds(30)), keptBytes: 0)
        var lines = try [
            json(.resumed(at: 5), of: target), json(.retrying(after: .milliseconds(1500), error), of: target),
            json(.finished(.cancelled(keptBytes: 7)), of: target),
            json(.finished(.failed(error)), of: target),
            json(.progress(DownloadProgress(completedBytes: 1, totalBytes: 2)), of: target),
            json(.progress(DownloadProgress(completedBytes: 1, totalBytes: nil)), of: target),
        ]
        let model = CapacityModel()
        let state = VolumeState(
            total: 200 << 30, available: 70 << 30, evictable: 2 << 30, purgeable: 1 << 30)
        let capacity = model.capacity(of: state, cap: 7 << 30)
        let report = CapacityReport(
            capacity: capacity, pressure: .low, configuredBudget: .automaticUpTo(.gibibytes(7)),
            budgetBytes: 11, ceilingBytes: 12, largestItemBytes: 13, chargedBytes: 1, heldBytes: 2,
            catalogBytes: 3, refusal: .pressure(.low))
        lines.append(try JSON.document(report.json(CacheConfiguration().capacityModel), isPretty: true))
        let golden = try String(contentsOf: Transcript.file("rareEvents"), encoding: .utf8)
        let printed = lines.joined(separator: "\n").replacing(#/"(message|refusalMessage)"( ?: ?)"[^"]*"/#) {
            "\"\($0.1)\"\($0.2)\"…\""
        }
        #expect(printed == golden)
    }

    private func json(_ event: DownloadEvent, of target: FetchTarget) throws -> String {
        try JSON.document(event.json(of: target, nil), isPretty: false)
    }
}

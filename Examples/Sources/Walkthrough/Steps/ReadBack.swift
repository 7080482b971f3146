import Foundation
import PrefetchCaching
import Storytelling

/// Reads every item that is still cached, and compares it with its original.
struct ReadBack {
    let cache: PrefetchCache
    let originals: [ItemKey: SourceFile]

    func run(_ report: inout Report, _ comparisons: inout Comparisons) async throws {
        report.step("Read everything back")
        let items = try await cache.items()
        let progress = Progress(label: "   comparing", total: items.count)
        defer { progress.clear() }
        var differing = 0
        var missing = 0
        for (index, item) in items.enumerated() {
            try Task.checkCancellation()
            progress.show(index)
            guard let content = try await cache.read(item.key), let original = originals[item.key] else {
                missing += 1
                continue
            }
            if try comparisons.compare(content, with: original) == .different { differing += 1 }
        }
        progress.clear()
        report.line("\(items.count) items are cached.")
        report.check("missing: \(missing)", missing == 0)
        report.check("different from the original: \(differing)", differing == 0)
    }
}

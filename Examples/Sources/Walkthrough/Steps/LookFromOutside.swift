import Foundation
import PrefetchCaching
import Storytelling

/// Looks at a stored item with the `lz4` command, which knows nothing of this library.
struct LookFromOutside {
    let cache: PrefetchCache
    let areas: StorageAreas
    let originals: [ItemKey: SourceFile]

    func run(_ report: inout Report, _ comparisons: inout Comparisons) async throws {
        report.step("One item, seen from outside")
        let compressed = try await cache.items().filter { $0.encoding == .lz4 }
        guard let item = compressed.max(by: { $0.contentBytes < $1.contentBytes }),
            let original = originals[item.key], let url = areas.url(of: item.location)
        else { return report.line("Skipped: no item is compressed.") }

        report.fact("key", item.key.string.printable)
        report.fact("content", item.contentBytes.asBytes)
        report.fact("stored", item.storedBytes.asBytes)
        report.fact("file", url.path(percentEncoded: false).printable)
        guard let lz4 = Command("lz4") else {
            return report.line("Skipped: the command lz4 is not installed.")
        }
        let path = url.path(percentEncoded: false)
        report.check("lz4 -t finds it in order", try lz4.run(["-t", path]) != nil)
        guard let content = try lz4.run(["-dc", path]) else {
            return report.check("lz4 -dc decodes it", false)
        }
        let comparison = try comparisons.compare(content, with: original)
        report.check("lz4 -dc prints the original", comparison != .different)
    }
}

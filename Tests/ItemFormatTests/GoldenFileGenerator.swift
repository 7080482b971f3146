import Foundation
import PrefetchItemFormat
import Testing

/// Writes the golden files that are missing, beside the sources. To be run once, by hand, when the
/// format gets a new version; a file that exists is never written again.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["GENERATE_GOLDEN_FILES"] != nil,
        "Set GENERATE_GOLDEN_FILES to write the golden files of a new version."))
struct GoldenFileGenerator {
    @Test(arguments: GoldenItem.all)
    func generate(golden: GoldenItem) throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Golden/\(golden.name).item")
        guard !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) else { return }
        let image = try image(of: golden.content, golden.metadata, encoding: .forced(golden.encoding))
        try Data(image).write(to: url, options: .withoutOverwriting)
    }
}

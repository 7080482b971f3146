import Foundation
import PrefetchCaching
import SystemPackage

@testable import StorageInventory

/// The content of `storage.json`.
func fuzzManifest(_ input: [UInt8]) throws {
    let manifest: StorageManifest
    do {
        manifest = try StorageManifest(parsing: input, named: "storage.json")
    } catch ManifestError.invalid(_, let line, let column, let reason) {
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        try require(lines.indices.contains(line - 1), "an error is in a line of the file")
        try require((1...lines[line - 1].count + 1).contains(column), "and in a column of it")
        try require(!reason.isEmpty, "and says what is wrong")
        return
    }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = Data(input.starts(with: mark) ? Array(input.dropFirst(mark.count)) : input)
    let json = try JSONSerialization.jsonObject(with: text) as? [String: Any]
    try require(
        (json?["entries"] as? [Any])?.count == manifest.entries.count, "what is read is JSON, and all of it")
    for entry in manifest.entries {
        try require(entry.limit?.value.bytes ?? 0 >= 0, "a limit is not negative")
        try require(!(entry.what + entry.why).allSatisfy(\.isWhitespace), "every entry says something")
        // The stars of a pattern stand for names, and for themselves.
        let path = FilePath(entry.pattern.text)
        try require(entry.pattern.matches(PatternPath(path)), "a pattern matches itself")
        guard let found = manifest.entry(for: path) else {
            throw BrokenProperty(description: "nor is it lost")
        }
        try require(!entry.pattern.isMoreSpecific(than: found.pattern), "the most specific entry counts")
    }
}

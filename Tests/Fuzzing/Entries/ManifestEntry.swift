import PrefetchCaching
import SystemPackage

@testable import StorageInventory

/// The content of `storage.json`.
func fuzzManifest(_ input: [UInt8]) throws {
    let manifest: StorageManifest
    do {
        manifest = try StorageManifest(parsing: input, named: "storage.json")
    } catch ManifestError.invalid(_, let place, let reason) {
        let form = #/[$a-z]*|entries\[[0-9]+\](\.[a-zA-Z]+)?/#
        try require(place.wholeMatch(of: form) != nil, "an error is at a place of the manifest")
        try require(!reason.isEmpty, "and says what is wrong")
        return
    }
    for entry in manifest.entries {
        try require(entry.limit?.value.bytes ?? 0 >= 0, "a limit is not negative")
        try require(!(entry.what + entry.why).allSatisfy(\.isWhitespace), "every entry says something")
        // The stars of a pattern stand for names, and for themselves.
        let path = FilePath(entry.pattern.text)
        try require(entry.pattern.matches(path.string), "a pattern matches itself")
        guard let found = manifest.entry(for: path) else {
            throw BrokenProperty(description: "nor is it lost")
        }
        try require(!entry.pattern.isMoreSpecific(than: found.pattern), "the most specific entry counts")
    }
}

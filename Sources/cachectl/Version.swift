internal import CPrefetchPlatform
internal import PrefetchCaching
internal import StorageInventory

/// What `cachectl --version` prints.
enum Version {
    static var text: String {
        var formats = PrefetchCache.formatVersions
        formats += [("manifest", StorageManifest.version), ("JSON", JSON.schemaVersion)]
        let commit = cplatform_commit().map { ", commit \(String(cString: $0))" } ?? ""
        return """
            cachectl \(PrefetchCache.version)\(commit)
            formats: \(formats.map { "\($0.format) \($0.version)" }.joined(separator: ", "))
            """
    }
}

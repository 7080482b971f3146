internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// The option of commands that judge files by the app's manifest.
struct ManifestOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The app's manifest, which says what its files are for.", valueName: "file"),
        completion: .file(extensions: ["json"]), transform: FilePath.parse)
    var manifest: FilePath?

    func read(in fileSystem: LiveFileSystem) throws -> StorageManifest? {
        try manifest.map { try StorageManifest(at: $0, in: fileSystem) }
    }
}

extension Output {
    /// Prints a manifest as its file: unlike other output it has no `schemaVersion`, and its names are in the order in
    /// which people read them.
    func print(_ manifest: StorageManifest) throws {
        let entries = try manifest.entries.map { entry in
            let members = try entry.members.map { name, value in
                "      \"\(name)\": \(try JSON.text(of: value, isPretty: false))"
            }
            return "    {\n\(members.joined(separator: ",\n"))\n    }"
        }
        var members = ["  \"version\": \(StorageManifest.version)"]
        if let app = manifest.app { members.append("  \"app\": \(try JSON.text(of: app, isPretty: false))") }
        members.append(
            entries.isEmpty
                ? "  \"entries\": []" : "  \"entries\": [\n\(entries.joined(separator: ",\n"))\n  ]")
        try print(verbatim: "{\n\(members.joined(separator: ",\n"))\n}".utf8)
    }
}

extension StorageManifest.Entry {
    /// The members in the file, in their usual order.
    var members: [(name: String, value: any Encodable)] {
        var members: [(name: String, value: any Encodable)] = [
            ("path", pattern.text), ("what", what), ("why", why), ("area", area.manifestName),
            ("backup", backup.rawValue),
            ("regenerable", regenerable == .no ? false as any Encodable : regenerable.rawValue),
        ]
        if owner != Self.us { members.append(("owner", owner)) }
        if let limit { members.append(("limit", limit.text)) }
        if let unusedFor { members.append(("unusedFor", unusedFor.text)) }
        return members
    }
}

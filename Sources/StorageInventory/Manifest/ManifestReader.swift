internal import Foundation
internal import PrefetchCaching
package import PrefetchFileSystem
internal import PrefetchStorageAreas
package import SystemPackage

extension StorageManifest {
    /// In bytes. A long manifest has some hundred entries of some hundred bytes.
    private static let longest: Int64 = 4 << 20

    /// Reads a manifest.
    ///
    /// - Throws: ``ManifestError``, for the first thing that is wrong with it.
    package init(at path: FilePath, in fileSystem: any FileSystem) throws(ManifestError) {
        let text: [UInt8]
        do {
            text = try fileSystem.content(of: path, atMost: Self.longest)
        } catch {
            throw .unreadable(path, error.errno)
        }
        try self.init(parsing: text, named: path)
    }

    /// - Parameter name: The path of the text, for errors.
    package init(parsing text: [UInt8], named name: FilePath) throws(ManifestError) {
        do {
            // It tells where the syntax is wrong, which the decoder does not on all platforms.
            _ = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            self = try JSONDecoder().decode(StorageManifest.self, from: Data(text))
        } catch {
            throw ManifestError(error, in: name)
        }
        for (number, entry) in entries.enumerated() {
            if let twin = entries[..<number].firstIndex(where: { $0.pattern.isEquivalent(to: entry.pattern) })
            {
                throw .invalid(
                    name, at: "entries[\(number)].path",
                    reason: "entries[\(twin)] has the same pattern: keep one of the two")
            }
        }
    }
}

extension FileSystem {
    /// The bytes of a file that a person names.
    func content(of path: FilePath, atMost limit: Int64) throws(FileSystemError) -> [UInt8] {
        try withFile(path, in: .workingDirectory, .readFollowingLinksWithoutWaiting) {
            file throws(FileSystemError) in
            let length = try attributes(of: file).length
            guard length <= limit else { throw FileSystemError("read", path: path, errno: .fileTooLarge) }
            return try bytes(of: file, count: Int(length))
        }
    }
}

/// Why a manifest cannot be used.
package enum ManifestError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(FilePath, Errno)
    /// The place is that of the value, such as `entries[3].backup`; empty for the manifest as a whole.
    case invalid(FilePath, at: String, reason: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let errno):
            "\(path.displayText) cannot be read (\(errno)): specify the app's storage.json"
        case .invalid(let path, let place, let reason):
            "\(path.displayText)\(place.isEmpty ? "" : ", \(place)"): \(reason)"
        }
    }

    fileprivate init(_ error: any Error, in file: FilePath) {
        let (keys, reason): ([any CodingKey], String) =
            switch error {
            case DecodingError.keyNotFound(let key, let context):
                (context.codingPath + [key], "it is missing: write \(Self.meaning(of: key))")
            case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
                (
                    context.codingPath,
                    "this is something else: write \(Self.meaning(of: context.codingPath.last))"
                )
            case DecodingError.dataCorrupted(let context):
                (context.codingPath, context.debugDescription)
            default:
                ([], "this is not JSON: \((error as NSError).userInfo[NSDebugDescriptionErrorKey] ?? error)")
            }
        let place = keys.reduce("") { place, key in
            if let number = key.intValue { return "\(place)[\(number)]" }
            return place.isEmpty ? key.stringValue : "\(place).\(key.stringValue)"
        }
        self = .invalid(file, at: place, reason: reason)
    }

    private static func meaning(of key: (any CodingKey)?) -> String {
        guard let name = key?.stringValue else { return "an object in braces" }
        return StorageManifest.Key(rawValue: name)?.meaning ?? StorageManifest.Member(rawValue: name)?.meaning
            ?? "an object in braces"
    }
}

extension StorageManifest: Decodable {
    /// The names in the file.
    enum Member: String, CodingKey, CaseIterable {
        case schema = "$schema"
        case version, app, entries

        var meaning: String {
            switch self {
            case .schema: "the address of the schema"
            case .version: "the version of the format, \(StorageManifest.version)"
            case .app: "the identifier of the app"
            case .entries: "a list of what the app stores"
            }
        }
    }

    package init(from decoder: any Decoder) throws {
        let members = try Members<Member>(of: decoder)
        let version = try members.values.decode(Double.self, forKey: .version)
        guard version == Double(Self.version) else {
            throw members.fault(
                .version,
                version > Double(Self.version)
                    ? "this is a newer version, and this tool knows version \(Self.version): update the tool"
                    : "there is no such version: write \(Self.version)")
        }
        _ = try members.text(.schema)
        self.init(
            app: try members.text(.app), entries: try members.values.decode([Entry].self, forKey: .entries))
    }
}

extension StorageManifest.Entry: Decodable {
    package init(from decoder: any Decoder) throws {
        let members = try Members<StorageManifest.Key>(of: decoder)
        let name = try members.required(.area)
        guard StorageManifest.areaNames.contains(name) else {
            let names = StorageManifest.areaNames.alternatives
            throw members.fault(.area, "there is no area \"\(name)\": write \(names)")
        }
        area = Area(name: name)
        pattern = try members.parsed(.path, as: PathPattern.init)
        what = try members.statement(.what)
        why = try members.statement(.why)
        backup = try members.backup(in: area)
        regenerable = try members.regenerable()
        if members.values.contains(.owner) { owner = try members.statement(.owner) }
        limit = try members.quantity(.limit, as: ByteSize.parse)
        unusedFor = try members.quantity(.unusedFor, as: Lifetime.init)
        try requireSafety(members)
    }

    /// What cannot be had again must neither lie where the system deletes it, nor be missing from backups: a check would
    /// report every file of such an entry, and its fix would contradict the entry.
    private func requireSafety(_ members: Members<StorageManifest.Key>) throws {
        guard regenerable == .no else { return }
        let reason: String? =
            switch (area, backup) {
            case (.caches, _), (.temporary, _):
                "the system may delete what is in the area \(area.manifestName)"
            case (_, .exclude): "no backup has what is excluded"
            default: nil
            }
        if let reason {
            throw members.fault(
                .regenerable,
                "\(reason), so it cannot be false here: write \"download\" or \"derive\", or change the "
                    + (backup == .exclude ? "backup" : "area"))
        }
    }
}

/// The members of one object, none of which may be unknown.
private struct Members<Name: CodingKey & CaseIterable> {
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    let values: KeyedDecodingContainer<Name>

    init(of decoder: any Decoder) throws {
        values = try decoder.container(keyedBy: Name.self)
        let known = Name.allCases.map(\.stringValue)
        let names = try decoder.singleValueContainer().decode([String: Anything].self).keys
        if let name = names.filter({ !known.contains($0) }).min() {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "there is no \"\(name)\", only \(known.joined(separator: ", "))"))
        }
    }

    func fault(_ name: Name, _ reason: String) -> DecodingError {
        .dataCorruptedError(forKey: name, in: values, debugDescription: reason)
    }

    func required(_ name: Name) throws -> String { try values.decode(String.self, forKey: name) }

    /// Unlike `decodeIfPresent`, takes no null.
    func text(_ name: Name) throws -> String? { values.contains(name) ? try required(name) : nil }
}

extension Members<StorageManifest.Key> {
    /// A text that says something.
    func statement(_ key: Name) throws -> String {
        let text = try required(key)
        guard !text.allSatisfy(\.isWhitespace) else {
            throw fault(key, "it says nothing: write \(key.meaning)")
        }
        return text
    }

    func parsed<Value>(_ key: Name, as parse: (String) throws -> Value) throws -> Value {
        let text = try required(key)
        do {
            return try parse(text)
        } catch {
            throw fault(key, "it cannot be \"\(text)\": \(error)")
        }
    }

    func quantity<Value>(_ key: Name, as parse: (String) throws -> Value) throws -> StorageManifest.Written<
        Value
    >? {
        guard let text = try text(key) else { return nil }
        return StorageManifest.Written(text: text, value: try parsed(key, as: parse))
    }

    func backup(in area: Area?) throws -> StorageManifest.Backup {
        let name = try required(.backup)
        guard let backup = StorageManifest.Backup(rawValue: name) else {
            let names = StorageManifest.Backup.allCases.map(\.rawValue).alternatives
            throw fault(.backup, "it cannot be \"\(name)\": write \(names)")
        }
        switch (area?.promise.backup, backup) {
        case (.notBackedUp?, .include):
            throw fault(
                .backup,
                "no backup has what is in the area \(area.manifestName): write system, or choose another area"
            )
        case (.uploaded?, .include), (.uploaded?, .exclude):
            throw fault(
                .backup,
                "what is in the area \(area.manifestName) is uploaded, and no mark matters: write system")
        default: return backup
        }
    }

    func regenerable() throws -> StorageManifest.Regenerable {
        do {
            if try !values.decode(Bool.self, forKey: .regenerable) { return .no }
        } catch DecodingError.typeMismatch {
            let text = try required(.regenerable)
            if let known = StorageManifest.Regenerable(rawValue: text), known != .no { return known }
        }
        throw fault(.regenerable, "it cannot be this: write \(Name.regenerable.meaning)")
    }
}

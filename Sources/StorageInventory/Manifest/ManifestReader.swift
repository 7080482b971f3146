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
            case DecodingError.dataCorrupted(let context): (context.codingPath, context.debugDescription)
            default:
                ([], "this is not JSON: \((error as NSError).userInfo[NSDebugDescriptionErrorKey] ?? error)")
            }
        let place = keys.reduce("") { place, key in
            if let number = key.intValue { return "\(place)[\(number)]" }
            return place.isEmpty ? key.stringValue : "\(place).\(key.stringValue)"
        }
        self = .invalid(file, at: place, reason: reason)
    }

    fileprivate static func meaning(of key: (any CodingKey)?) -> String {
        (key as? StorageManifest.Key)?.meaning ?? (key as? StorageManifest.Member)?.meaning
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
        let (version, known) = (try members.values.decode(Double.self, forKey: .version), Self.version)
        if version > Double(known) {
            let reason = "this is a newer version, and this tool knows version \(known): update the tool"
            throw members.fault(.version, reason)
        }
        guard version == Double(known) else {
            throw members.fault(.version, "there is no such version: write \(known)")
        }
        _ = try members.ifPresent(.schema, members.text)
        self.init(
            app: try members.ifPresent(.app, members.text),
            entries: try members.values.decode([Entry].self, forKey: .entries))
    }
}

extension StorageManifest.Entry: Decodable {
    package init(from decoder: any Decoder) throws {
        let members = try Members<StorageManifest.Key>(of: decoder)
        // A text that says something.
        func statement(_ key: StorageManifest.Key) throws -> String {
            try members.parsed(key) { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        }
        func quantity<Value>(_ key: StorageManifest.Key, _ parse: (String) throws -> Value) throws
            -> StorageManifest.Written<Value>
        {
            StorageManifest.Written(text: try members.text(key), value: try members.parsed(key, parse))
        }
        pattern = try members.parsed(.path, PathPattern.init)
        what = try statement(.what)
        why = try statement(.why)
        area = try members.parsed(.area) { name -> Area?? in
            StorageManifest.areaNames.contains(name) ? .some(Area(name: name)) : nil
        }
        backup = try members.parsed(.backup, StorageManifest.Backup.init(rawValue:))
        do {
            let isRegenerable = try members.values.decode(Bool.self, forKey: .regenerable)
            regenerable = try members.required(isRegenerable ? nil : .no, .regenerable, "true")
        } catch DecodingError.typeMismatch {
            regenerable = try members.parsed(.regenerable) {
                $0 == StorageManifest.Regenerable.no.rawValue ? nil : .init(rawValue: $0)
            }
        }
        owner = try members.ifPresent(.owner, statement) ?? Self.us
        limit = try members.ifPresent(.limit) { try quantity($0, ByteSize.parse) }
        unusedFor = try members.ifPresent(.unusedFor) { try quantity($0, Lifetime.init) }
        if let (key, reason) = contradiction { throw members.fault(key, reason) }
    }

    /// What the entry asks for and can never be: a check would report each of its files, and a fix of that would
    /// contradict the entry.
    private var contradiction: (StorageManifest.Key, String)? {
        let place = area.manifestName
        let change = "so it cannot be false here: write \"download\" or \"derive\", or change the"
        return switch (area?.promise.backup, backup, regenerable) {
        case (.notBackedUp?, .include, _):
            (
                .backup,
                "no backup has what is in the area \(place): write system, or choose another area"
            )
        case (.uploaded?, .include, _), (.uploaded?, .exclude, _):
            (.backup, "what is in the area \(place) is uploaded, and no mark matters: write system")
        case (.notBackedUp?, _, .no):
            (.regenerable, "the system may delete what is in the area \(place), \(change) area")
        case (_, .exclude, .no): (.regenerable, "no backup has what is excluded, \(change) backup")
        default: nil
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

    func text(_ name: Name) throws -> String { try values.decode(String.self, forKey: name) }

    /// Unlike `decodeIfPresent`, takes no null.
    func ifPresent<Value>(_ name: Name, _ read: (Name) throws -> Value) throws -> Value? {
        values.contains(name) ? try read(name) : nil
    }

    /// - Parameter parse: Throws an error that says what to do, or returns `nil`.
    func parsed<Value>(_ name: Name, _ parse: (String) throws -> Value?) throws -> Value {
        let text = try text(name)
        let value: Value?
        do {
            value = try parse(text)
        } catch {
            throw fault(name, "it cannot be \"\(text)\": \(error)")
        }
        return try required(value, name, "\"\(text)\"")
    }

    func required<Value>(_ value: Value?, _ name: Name, _ text: String) throws -> Value {
        guard let value else {
            throw fault(name, "it cannot be \(text): write \(ManifestError.meaning(of: name))")
        }
        return value
    }
}

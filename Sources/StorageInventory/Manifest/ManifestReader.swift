internal import PrefetchCaching
package import PrefetchFileSystem
internal import PrefetchStorageAreas
package import SystemPackage

extension StorageManifest {
    /// In bytes. A long manifest has some hundred entries of some hundred bytes.
    private static let longest = 4 << 20

    /// Reads a manifest.
    ///
    /// - Throws: ``ManifestError``, for the first thing that is wrong with it.
    package init(at path: FilePath, in fileSystem: any FileSystem) throws(ManifestError) {
        let text: [UInt8]
        do {
            text = try fileSystem.withFile(path, in: .workingDirectory, .readFollowingLinksWithoutWaiting) {
                file throws(FileSystemError) in
                let length = try fileSystem.attributes(of: file).length
                guard length <= Self.longest else {
                    throw FileSystemError("read", path: path, errno: .fileTooLarge)
                }
                return try fileSystem.bytes(of: file, count: Int(length))
            }
        } catch {
            throw .unreadable(path, error.errno)
        }
        try self.init(parsing: text, named: path)
    }

    /// - Parameter name: The path of the text, for errors.
    package init(parsing text: [UInt8], named name: FilePath) throws(ManifestError) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = text.starts(with: mark) ? Array(text.dropFirst(mark.count)) : text
        do throws(LocatedFault) {
            try LocatedJSON.requireUTF8(text)
            self = try ManifestReader(text: text).manifest(LocatedJSON(parsing: text))
        } catch {
            let (line, column) = error.position(in: text)
            throw .invalid(name, line: line, column: column, reason: error.message)
        }
    }
}

/// Why a manifest cannot be used.
package enum ManifestError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(FilePath, Errno)
    /// The line and the column are counted from 1.
    case invalid(FilePath, line: Int, column: Int, reason: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let errno):
            "\(path.displayText) cannot be read (\(errno)): specify the app's storage.json"
        case .invalid(let path, let line, let column, let reason):
            "\(path.displayText), line \(line), column \(column): \(reason)"
        }
    }
}

/// Makes a manifest of its JSON.
private struct ManifestReader {
    let text: [UInt8]

    func manifest(_ json: LocatedJSON) throws(LocatedFault) -> StorageManifest {
        let file = try Fields(
            json, "a manifest", ["$schema", "version", "app", "entries"],
            required: [
                "version": "the version of the format, \(StorageManifest.version)",
                "entries": "a list of what the app stores",
            ])
        try requireVersion(file)
        _ = try file.text("$schema")
        let app = try file.text("app")
        guard let list = file["entries"], case .array(let elements) = list.value else {
            throw file.wrongType("entries", "a list in brackets")
        }
        var entries: [StorageManifest.Entry] = []
        var offsets: [Int] = []
        for element in elements {
            let (entry, offset) = try entry(element)
            if let twin = entries.firstIndex(where: { $0.pattern.isEquivalent(to: entry.pattern) }) {
                let line = LocatedFault(offsets[twin], "").position(in: text).line
                throw LocatedFault(
                    offset, "the entry in line \(line) has the same pattern: keep one of the two")
            }
            entries.append(entry)
            offsets.append(offset)
        }
        return StorageManifest(app: app?.text, entries: entries)
    }

    private func requireVersion(_ file: Fields) throws(LocatedFault) {
        let version = StorageManifest.version
        guard let json = file["version"], case .number(let number) = json.value else {
            throw file.wrongType("version", "the number \(version)")
        }
        guard number == Double(version) else {
            throw LocatedFault(
                json.offset,
                number > Double(version)
                    ? "this is a newer version, and this tool knows version \(version): update the tool"
                    : "there is no such version: write \(version)")
        }
    }

    /// - Returns: The entry, and the offset of its pattern.
    private func entry(_ json: LocatedJSON) throws(LocatedFault) -> (StorageManifest.Entry, Int) {
        let keys = StorageManifest.Key.allCases
        let fields = try Fields(
            json, "an entry", keys.map(\.rawValue),
            required: Dictionary(
                uniqueKeysWithValues: keys.filter(\.isRequired).map { ($0.rawValue, $0.meaning) }))
        let area = try area(fields)
        let (pattern, offset) = try fields.parsed(.path) { text throws(PathPatternError) in
            try PathPattern(text)
        }
        var entry = StorageManifest.Entry(
            pattern: pattern, what: try fields.statement(.what), why: try fields.statement(.why), area: area,
            backup: try backup(fields, area), regenerable: try regenerable(fields))
        try requireSafety(of: entry, fields)
        if fields[StorageManifest.Key.owner.rawValue] != nil { entry.owner = try fields.statement(.owner) }
        entry.limit = try fields.quantity(.limit) { text throws(ByteSizeError) in try ByteSize.parse(text) }
        entry.unusedFor = try fields.quantity(.unusedFor) { text throws(LifetimeError) in
            try Lifetime(text)
        }
        return (entry, offset)
    }

    /// What cannot be had again must neither lie where the system deletes it, nor be missing from backups: a check would
    /// report every file of such an entry, and its fix would contradict the entry.
    private func requireSafety(of entry: StorageManifest.Entry, _ fields: Fields) throws(LocatedFault) {
        guard entry.regenerable == .no, let value = fields[StorageManifest.Key.regenerable.rawValue] else {
            return
        }
        let reason: String? =
            switch (entry.area, entry.backup) {
            case (.caches, _), (.temporary, _):
                "the system may delete what is in the area \(entry.area.manifestName)"
            case (_, .exclude): "no backup has what is excluded"
            default: nil
            }
        if let reason {
            throw LocatedFault(
                value.offset,
                "\(reason), so it cannot be false here: write \"download\" or \"derive\", or change the "
                    + (entry.backup == .exclude ? "backup" : "area"))
        }
    }

    private func area(_ fields: Fields) throws(LocatedFault) -> Area? {
        let name = try fields.required(.area)
        guard StorageManifest.areaNames.contains(name.text) else {
            throw LocatedFault(
                name.offset,
                "there is no area \"\(name.text)\": write \(StorageManifest.areaNames.alternatives)"
            )
        }
        return Area(name: name.text)
    }

    private func backup(_ fields: Fields, _ area: Area?) throws(LocatedFault) -> StorageManifest.Backup {
        let name = try fields.required(.backup)
        guard let backup = StorageManifest.Backup(rawValue: name.text) else {
            let names = StorageManifest.Backup.allCases.map(\.rawValue).alternatives
            throw LocatedFault(name.offset, "\"backup\" is not \"\(name.text)\": write \(names)")
        }
        guard let area else { return backup }
        switch (area.promise.backup, backup) {
        case (.notBackedUp, .include):
            throw LocatedFault(
                name.offset,
                "no backup has what is in the area \(area.name): write system, or choose another area")
        case (.uploaded, .include), (.uploaded, .exclude):
            throw LocatedFault(
                name.offset, "what is in the area \(area.name) is uploaded, and no mark matters: write system"
            )
        default: return backup
        }
    }

    private func regenerable(_ fields: Fields) throws(LocatedFault) -> StorageManifest.Regenerable {
        let key = StorageManifest.Key.regenerable.rawValue
        switch fields[key]?.value {
        case .boolean(false): return .no
        case .string(let text):
            if let known = StorageManifest.Regenerable(rawValue: text), known != .no { return known }
        default: break
        }
        throw fields.wrongType(key, "\"download\", \"derive\" or false")
    }
}

/// The members of one object.
private struct Fields {
    private let values: [String: LocatedJSON]
    private let offset: Int

    subscript(_ name: String) -> LocatedJSON? { values[name] }

    /// - Parameters:
    ///   - place: What the object is, for errors.
    ///   - required: The names that must be there, with what they mean.
    init(_ json: LocatedJSON, _ place: String, _ names: [String], required: [String: String])
        throws(LocatedFault)
    {
        guard case .object(let members) = json.value else {
            throw LocatedFault(json.offset, "\(place) is an object in braces, and not \(json.kind)")
        }
        for member in members where !names.contains(member.name) {
            throw LocatedFault(
                member.offset, "\(place) has no \"\(member.name)\", only \(names.joined(separator: ", "))")
        }
        values = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
        offset = json.offset
        for name in names where values[name] == nil {
            if let meaning = required[name] {
                throw LocatedFault(json.offset, "\(place) needs \"\(name)\": \(meaning)")
            }
        }
    }

    func wrongType(_ name: String, _ expected: String) -> LocatedFault {
        guard let json = values[name] else { return LocatedFault(offset, "\"\(name)\" is missing") }
        let found = if case .string(let text) = json.value { "\"\(text)\"" } else { json.kind }
        return LocatedFault(json.offset, "\"\(name)\" is \(expected), and not \(found)")
    }

    func text(_ name: String) throws(LocatedFault) -> (text: String, offset: Int)? {
        guard let json = values[name] else { return nil }
        guard case .string(let text) = json.value else { throw wrongType(name, "a text in double quotes") }
        return (text, json.offset)
    }

    func required(_ key: StorageManifest.Key) throws(LocatedFault) -> (text: String, offset: Int) {
        guard let found = try text(key.rawValue) else { throw wrongType(key.rawValue, key.meaning) }
        return found
    }

    /// A text that says something.
    func statement(_ key: StorageManifest.Key) throws(LocatedFault) -> String {
        let (text, offset) = try required(key)
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw LocatedFault(offset, "\"\(key.rawValue)\" says nothing: write \(key.meaning)")
        }
        return text
    }

    func parsed<Value, Failure: Error>(
        _ key: StorageManifest.Key, _ parse: (String) throws(Failure) -> Value
    ) throws(LocatedFault) -> (Value, offset: Int) {
        let (text, offset) = try required(key)
        do throws(Failure) {
            return (try parse(text), offset)
        } catch {
            throw LocatedFault(offset, "\"\(text)\" cannot be the \"\(key.rawValue)\": \(error)")
        }
    }

    func quantity<Value, Failure: Error>(
        _ key: StorageManifest.Key, _ parse: (String) throws(Failure) -> Value
    ) throws(LocatedFault) -> StorageManifest.Written<Value>? {
        guard let found = try text(key.rawValue) else { return nil }
        return StorageManifest.Written(text: found.text, value: try parsed(key, parse).0)
    }
}

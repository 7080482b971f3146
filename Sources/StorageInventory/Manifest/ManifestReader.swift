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
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        } catch {
            let fault = (error as NSError).userInfo[NSDebugDescriptionErrorKey] ?? error
            throw .invalid(name, at: "", reason: "this is not JSON: \(fault)")
        }
        let members = try Members<Member>(value, at: "", in: name)
        let version: NSNumber = try members.value(.version)
        guard version.doubleValue == Double(Self.version), !version.isFlag else {
            throw members.fault(
                .version,
                version.doubleValue > Double(Self.version)
                    ? "this is a newer version, and this tool knows version \(Self.version): update the tool"
                    : "there is no such version: write \(Self.version)")
        }
        _ = try members.ifPresent(.schema) { key throws(ManifestError) -> String in try members.value(key) }
        let app: String? = try members.ifPresent(.app) { key throws(ManifestError) in try members.value(key) }
        let list: [Any] = try members.value(.entries)
        var entries: [Entry] = []
        for (number, value) in list.enumerated() {
            let members = try Members<Key>(value, at: "entries[\(number)]", in: name)
            let entry = try Entry(members)
            if let twin = entries.firstIndex(where: { $0.pattern.isEquivalent(to: entry.pattern) }) {
                throw members.fault(.path, "entries[\(twin)] has the same pattern: keep one of the two")
            }
            entries.append(entry)
        }
        self.init(app: app, entries: entries)
    }
}

extension StorageManifest.Entry {
    fileprivate init(_ members: Members<StorageManifest.Key>) throws(ManifestError) {
        // A text that says something.
        func statement(_ key: StorageManifest.Key) throws(ManifestError) -> String {
            try members.parsed(key) { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        }
        func quantity<Value>(_ key: StorageManifest.Key, _ parse: (String) throws -> Value)
            throws(ManifestError) -> StorageManifest.Written<Value>?
        {
            try members.ifPresent(key) { key throws(ManifestError) in
                StorageManifest.Written(text: try members.value(key), value: try members.parsed(key, parse))
            }
        }
        pattern = try members.parsed(.path, PathPattern.init)
        what = try statement(.what)
        why = try statement(.why)
        area = try members.parsed(.area) { name -> Area?? in
            StorageManifest.areaNames.contains(name) ? .some(Area(name: name)) : nil
        }
        backup = try members.parsed(.backup, StorageManifest.Backup.init(rawValue:))
        let flag = members.values[StorageManifest.Key.regenerable.rawValue] as? NSNumber
        regenerable =
            if let flag, flag.isFlag, !flag.boolValue { .no } else {
                try members.parsed(.regenerable) { $0 == "false" ? nil : .init(rawValue: $0) }
            }
        owner = try members.ifPresent(.owner, statement) ?? Self.us
        limit = try quantity(.limit, ByteSize.parse)
        unusedFor = try quantity(.unusedFor, Lifetime.init)
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
private struct Members<Name: ManifestName> {
    let values: [String: Any]
    private let file: FilePath
    private let place: String

    init(_ value: Any, at place: String, in file: FilePath) throws(ManifestError) {
        guard let values = value as? [String: Any] else {
            let reason = "this is something else: write an object in braces"
            throw .invalid(file, at: place, reason: reason)
        }
        let known = Name.allCases.map(\.rawValue)
        if let name = values.keys.filter({ !known.contains($0) }).min() {
            let reason = "there is no \"\(name)\", only \(known.joined(separator: ", "))"
            throw .invalid(file, at: place, reason: reason)
        }
        (self.values, self.file, self.place) = (values, file, place)
    }

    func fault(_ name: Name, _ reason: String) -> ManifestError {
        .invalid(file, at: place.isEmpty ? name.rawValue : "\(place).\(name.rawValue)", reason: reason)
    }

    func value<Value>(_ name: Name) throws(ManifestError) -> Value {
        guard let value = values[name.rawValue] else {
            throw fault(name, "it is missing: write \(name.meaning)")
        }
        guard let value = value as? Value else {
            throw fault(name, "this is something else: write \(name.meaning)")
        }
        return value
    }

    func ifPresent<Value>(_ name: Name, _ read: (Name) throws(ManifestError) -> Value) throws(ManifestError)
        -> Value?
    {
        values[name.rawValue] == nil ? nil : try read(name)
    }

    /// - Parameter parse: Throws an error that says what to do, or returns `nil`.
    func parsed<Value>(_ name: Name, _ parse: (String) throws -> Value?) throws(ManifestError) -> Value {
        let text: String = try value(name)
        do {
            if let value = try parse(text) { return value }
        } catch {
            throw fault(name, "it cannot be \"\(text)\": \(error)")
        }
        throw fault(name, "it cannot be \"\(text)\": write \(name.meaning)")
    }
}

extension NSNumber {
    /// Whether it is `true` or `false` rather than a number.
    fileprivate var isFlag: Bool { String(cString: objCType) == "c" }
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
}

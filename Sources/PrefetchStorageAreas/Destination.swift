/// Where an item is moved when it is opened.
///
/// ```swift
/// let destination = Destination.documents("Episode 42.mp3", in: "Podcasts/Daily")
/// ```
public struct Destination: Sendable, Hashable {
    /// ``Area/documents``, ``Area/applicationSupport`` or ``Area/iCloudDrive``.
    public let area: Area
    /// The folder below the area, created if missing; `nil` for the area's own folder.
    public let folder: FolderPath?
    /// The name of the file.
    public let name: FileName
    /// Whether backups should contain the file.
    public let backup: BackupPolicy

    /// Creates a destination. Returns `nil` for ``Area/caches`` and ``Area/temporary``, which the system
    /// purges, and for ``Area/iCloudDrive`` with ``BackupPolicy/exclude``: everything there is uploaded.
    public init?(
        area: Area, name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy = .include
    ) {
        switch area {
        case .documents: self = .documents(name, in: folder, backup: backup)
        case .applicationSupport: self = .applicationSupport(name, in: folder, backup: backup)
        case .iCloudDrive where backup == .include: self = .iCloudDrive(name, in: folder)
        case .caches, .temporary, .iCloudDrive: return nil
        }
    }

    private init(_ area: Area, _ name: FileName, _ folder: FolderPath?, _ backup: BackupPolicy) {
        self.area = area
        self.folder = folder
        self.name = name
        self.backup = backup
    }

    /// A document that the user sees under this name.
    public static func documents(
        _ name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy = .include
    ) -> Destination {
        Destination(.documents, name, folder, backup)
    }

    /// A file that the app keeps for itself.
    public static func applicationSupport(
        _ name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy = .include
    ) -> Destination {
        Destination(.applicationSupport, name, folder, backup)
    }

    /// A document that the user sees on all devices of the account. It is uploaded, so there is no
    /// ``BackupPolicy`` to choose.
    ///
    /// If the user is not signed in when the item is opened, the open fails and the item stays cached.
    public static func iCloudDrive(_ name: FileName, in folder: FolderPath? = nil) -> Destination {
        Destination(.iCloudDrive, name, folder, .include)
    }
}

/// Whether backups should contain a file.
///
/// Raw values are stored on disk: a value once used keeps its meaning.
public enum BackupPolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// Backups should contain the file.
    case include = 1
    /// Backups should leave the file out: it can be downloaded again but must persist offline. See
    /// ``BackupMark``.
    case exclude = 2
}

/// A folder below a destination's area, as the user sees it: `Podcasts/Daily`.
///
/// It has 1 to ``maximumDepth`` components, each a ``FileName``, so that none is `..`, empty or
/// hidden; with the `/` between them, it has at most ``maximumLength`` bytes of UTF-8. Sanitise a
/// component that a server named:
///
/// ```swift
/// let folder = try FolderPath(["Podcasts", FileName(sanitizing: feed.title)])
/// ```
///
/// Two folders are equal when their bytes are.
public struct FolderPath: Sendable, Hashable, CustomStringConvertible {
    /// The largest number of components.
    public static let maximumDepth = 8
    /// The longest path, in bytes of UTF-8: half of what the strictest platform allows for a whole path.
    public static let maximumLength = 512

    /// The folders from the outermost to the innermost.
    public let components: [FileName]

    /// The components with a `/` between them.
    public var string: String { components.lazy.map(\.string).joined(separator: "/") }

    public var description: String { string }

    /// Creates a path from its components.
    ///
    /// - Throws: ``FolderPathError/empty``, ``FolderPathError/tooDeep(components:)`` or
    ///   ``FolderPathError/tooLong(bytes:)``.
    public init(_ components: [FileName]) throws(FolderPathError) {
        guard !components.isEmpty else { throw .empty }
        guard components.count <= Self.maximumDepth else { throw .tooDeep(components: components.count) }
        let length = components.reduce(components.count - 1) { $0 + $1.string.utf8.count }
        guard length <= Self.maximumLength else { throw .tooLong(bytes: length) }
        self.components = components
    }

    /// Creates a path from components separated by `/`, without a `/` at either end.
    ///
    /// - Throws: ``FolderPathError``.
    public init(_ string: String) throws(FolderPathError) {
        guard !string.isEmpty else { throw .empty }
        // Split by scalars, as the kernel does: a combining mark may hide a separator in a character.
        let parts = string.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= Self.maximumDepth else { throw .tooDeep(components: parts.count) }
        var components: [FileName] = []
        for part in parts {
            do {
                components.append(try FileName(String(part)))
            } catch {
                throw .component(error)
            }
        }
        try self.init(components)
    }
}

extension FolderPath? {
    /// The folder in the form that the catalog and the ledger store: empty for `nil`.
    package init(stored text: String) throws(FolderPathError) {
        self = text.isEmpty ? nil : try FolderPath(text)
    }
}

extension FolderPath: ExpressibleByStringLiteral {
    /// A folder that is written out in the source. A literal that is not a valid path is a programming
    /// error and traps; use ``init(_:)`` for strings from elsewhere.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

/// Why a string or a list of names cannot be a ``FolderPath``.
public enum FolderPathError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There are no components.
    case empty
    /// There are more than ``FolderPath/maximumDepth`` components.
    case tooDeep(components: Int)
    /// The path has more than ``FolderPath/maximumLength`` bytes of UTF-8.
    case tooLong(bytes: Int)
    /// One of the components is not a valid name.
    case component(FileNameError)

    public var description: String {
        switch self {
        case .empty: "a folder needs at least one name"
        case .tooDeep(let components):
            "a folder may be nested at most \(FolderPath.maximumDepth) deep, not \(components)"
        case .tooLong(let bytes):
            "a folder's path may have \(FolderPath.maximumLength) bytes of UTF-8; this one has \(bytes): shorten it"
        case .component(let error): "invalid folder name: \(error)"
        }
    }
}

/// Where an item is moved when it is first opened.
///
/// ```swift
/// let destination = Destination.documents("Episode 42.mp3", in: "Podcasts/Daily")
/// ```
///
/// An item was downloaded and can be downloaded again, so backups exclude it unless the destination says
/// ``BackupPolicy/include``.
public struct Destination: Sendable, Hashable {
    /// ``Area/documents``, ``Area/applicationSupport`` or ``Area/iCloudDrive``.
    public let area: Area
    /// The folder below the area, created if missing; `nil` for the root of the area. A file that backups exclude goes
    /// below the area's ``StorageAreas/excludedFolder``, if there is one.
    public let folder: FolderPath?
    /// The name of the file.
    public let name: FileName
    /// Whether backups should contain the file.
    public let backup: BackupPolicy

    /// Creates a destination. Returns `nil` for ``Area/caches`` and ``Area/temporary``, which the system
    /// purges, and for ``Area/iCloudDrive`` with ``BackupPolicy/exclude``: everything there is uploaded.
    ///
    /// - Parameter backup: `nil` for ``BackupPolicy/exclude``, and in iCloud Drive for ``BackupPolicy/include``.
    public init?(area: Area, name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy? = nil) {
        switch area {
        case .documents, .applicationSupport: self.init(area, name, folder, backup ?? .exclude)
        case .iCloudDrive:
            guard backup != .exclude else { return nil }
            self.init(area, name, folder, .include)
        case .caches, .temporary: return nil
        }
    }

    private init(_ area: Area, _ name: FileName, _ folder: FolderPath?, _ backup: BackupPolicy) {
        self.area = area
        self.folder = folder
        self.name = name
        self.backup = backup
    }

    /// A document that is visible to the user under this name.
    public static func documents(
        _ name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy = .exclude
    ) -> Destination {
        Destination(.documents, name, folder, backup)
    }

    /// A file for the app's internal use.
    public static func applicationSupport(
        _ name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy = .exclude
    ) -> Destination {
        Destination(.applicationSupport, name, folder, backup)
    }

    /// A document that is visible to the user on all devices of the account. It is uploaded, so there is no choice of a
    /// ``BackupPolicy``.
    ///
    /// If the user is not signed in when the item is opened, the open fails and the item stays cached.
    public static func iCloudDrive(_ name: FileName, in folder: FolderPath? = nil) -> Destination {
        Destination(.iCloudDrive, name, folder, .include)
    }
}

/// Whether backups should contain a file.
///
/// Raw values are stored on disk and never change meaning.
public enum BackupPolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// Backups should contain the file.
    case include = 1
    /// Backups should exclude the file: it can be downloaded again but must persist offline. It gets a “do not
    /// back up” mark, which some backup programs ignore.
    case exclude = 2
}

/// A folder below a destination's area, as the user sees it: `Podcasts/Daily`.
///
/// It has 1 to ``maximumDepth`` components, each a ``FileName``, so that none is `..`, empty or hidden. Including the
/// `/` separators, it has at most ``maximumBytes`` bytes of UTF-8. Sanitise components that come from a server:
///
/// ```swift
/// let folder = try FolderPath(["Podcasts", FileName(sanitizing: feed.title)])
/// ```
///
/// Folder paths are compared byte by byte.
public struct FolderPath: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of components.
    public static let maximumDepth = 8
    /// The maximum length in bytes of UTF-8: half of what the strictest platform allows for a full path.
    public static let maximumBytes = 512

    /// The components, outermost first.
    public let components: [FileName]

    /// The components joined by `/`.
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
        guard length <= Self.maximumBytes else { throw .tooLong(bytes: length) }
        self.components = components
    }

    /// The first components of a path; `nil` for none, or more than there are.
    package init?(prefix count: Int, of path: FolderPath) {
        guard (1...path.components.count).contains(count) else { return nil }
        components = Array(path.components.prefix(count))
    }

    /// Creates a path from components separated by `/`, without leading or trailing `/`.
    ///
    /// - Throws: ``FolderPathError``.
    public init(_ string: String) throws(FolderPathError) {
        guard !string.isEmpty else { throw .empty }
        // Split by scalars, as the kernel does: `/` and a combining mark form a single `Character`.
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
    /// Creates the folder from its form in the catalog and the ledger, in which `nil` is empty.
    package init(stored text: String) throws(FolderPathError) {
        self = text.isEmpty ? nil : try FolderPath(text)
    }
}

extension FolderPath: ExpressibleByStringLiteral {
    /// Creates a path from a literal. An invalid literal is a programming error and traps; use ``init(_:)`` for all
    /// other strings.
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
    /// The path has more than ``FolderPath/maximumBytes`` bytes of UTF-8.
    case tooLong(bytes: Int)
    /// One of the components is not a valid name.
    case component(FileNameError)

    public var description: String {
        switch self {
        case .empty: "a folder needs at least one name"
        case .tooDeep(let components):
            "a folder may be nested at most \(FolderPath.maximumDepth) deep, not \(components)"
        case .tooLong(let bytes):
            "a folder's path may have \(FolderPath.maximumBytes) bytes of UTF-8; this one has \(bytes): shorten it"
        case .component(let error): "invalid folder name: \(error)"
        }
    }
}

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
            "at most \(FolderPath.maximumDepth) folders may lie inside one another, not \(components)"
        case .tooLong(let bytes):
            "a folder's path may have \(FolderPath.maximumLength) bytes of UTF-8; this one has \(bytes): shorten it"
        case .component(let error): "every folder needs a name: \(error)"
        }
    }
}

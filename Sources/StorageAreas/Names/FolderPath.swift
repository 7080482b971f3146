/// A folder below a destination's area, as its user sees it: `Podcasts/Daily`.
///
/// It has 1 to ``maximumDepth`` components, each of which is a ``FileName``, and so none that is `..`,
/// empty, hidden or a trick; and with the `/` between them at most ``maximumLength`` bytes of UTF-8.
/// For a component that a server named, make a name of it first:
///
/// ```swift
/// let folder = try FolderPath(["Podcasts", FileName(sanitizing: feed.title)])
/// ```
///
/// Two folders are equal when their bytes are.
public struct FolderPath: Sendable, Hashable, CustomStringConvertible {
    /// The most folders inside one another.
    public static let maximumDepth = 8
    /// In bytes of UTF-8: half of what the strictest platform allows for a whole path.
    public static let maximumLength = 512

    /// From the outermost folder to the innermost.
    public let components: [FileName]

    /// The components with a `/` between them.
    public var string: String { components.lazy.map(\.string).joined(separator: "/") }

    public var description: String { string }

    /// - Throws: ``FolderPathError/empty``, ``FolderPathError/tooDeep(components:)`` or
    ///   ``FolderPathError/tooLong(bytes:)``.
    public init(_ components: [FileName]) throws(FolderPathError) {
        guard !components.isEmpty else { throw .empty }
        guard components.count <= Self.maximumDepth else { throw .tooDeep(components: components.count) }
        let length = components.reduce(components.count - 1) { $0 + $1.string.utf8.count }
        guard length <= Self.maximumLength else { throw .tooLong(bytes: length) }
        self.components = components
    }

    /// Takes components with a `/` between them, and none before or behind them.
    ///
    /// - Throws: ``FolderPathError``.
    public init(_ string: String) throws(FolderPathError) {
        guard !string.isEmpty else { throw .empty }
        // Scalars, as the kernel sees it: a combining mark may hide a separator in a character.
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
    /// A folder that is written out in the source. A literal that is none is a programming error and
    /// traps; use ``init(_:)`` for a string that comes from elsewhere.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

/// Why something cannot be a ``FolderPath``.
public enum FolderPathError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooDeep(components: Int)
    case tooLong(bytes: Int)
    /// One of the folders has a name that is none.
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

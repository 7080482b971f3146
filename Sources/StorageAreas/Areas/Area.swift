/// One of the places where an app may keep files, each with its own ``AreaPromise``.
///
/// Raw values are stored on disk: a value once used keeps its meaning.
public enum Area: UInt8, Sendable, Hashable, CaseIterable {
    /// Documents that the user sees.
    case documents = 1
    /// Files that the app keeps for itself.
    case applicationSupport = 2
    /// Files that can be downloaded again.
    case caches = 3
    /// Files for work under way.
    case temporary = 4
    /// Documents on all devices of the user's account.
    case iCloudDrive = 5
}

extension Area {
    /// The short name in commands: `documents`, `support`, `caches`, `tmp` or `icloud`.
    public var name: String {
        switch self {
        case .documents: "documents"
        case .applicationSupport: "support"
        case .caches: "caches"
        case .temporary: "tmp"
        case .iCloudDrive: "icloud"
        }
    }

    /// Creates the area with a short name; case matters. Returns `nil` for any other name.
    public init?(name: String) {
        guard let area = Area.allCases.first(where: { $0.name == name }) else { return nil }
        self = area
    }

    /// The name in the platform's own guidelines.
    package var title: String {
        switch self {
        case .documents: "Documents"
        case .applicationSupport: "Application Support"
        case .caches: "Caches"
        case .temporary: "tmp"
        case .iCloudDrive: "iCloud Drive"
        }
    }
}

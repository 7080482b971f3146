/// One of the places where an app may keep files. Each makes its own ``AreaPromise``.
///
/// Raw values are stored on disk: a value that was ever used keeps its meaning.
public enum Area: UInt8, Sendable, Hashable, CaseIterable {
    case documents = 1
    case applicationSupport = 2
    case caches = 3
    case temporary = 4
    case iCloudDrive = 5
}

extension Area {
    /// The short name that commands take and print.
    public var name: String {
        switch self {
        case .documents: "documents"
        case .applicationSupport: "support"
        case .caches: "caches"
        case .temporary: "tmp"
        case .iCloudDrive: "icloud"
        }
    }

    /// The area with a short name; case matters.
    public init?(name: String) {
        guard let area = Area.allCases.first(where: { $0.name == name }) else { return nil }
        self = area
    }

    /// The name that the platform's own guidelines use.
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

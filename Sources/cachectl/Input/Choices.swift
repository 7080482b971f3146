internal import ArgumentParser
internal import PrefetchCache

/// The areas that an item can go to when it is opened.
enum DestinationArea: String, CaseIterable, ExpressibleByArgument {
    case documents, support

    func destination(_ name: FileName, backup: BackupChoice) -> Destination {
        switch self {
        case .documents: .documents(name, backup: backup.policy)
        case .support: .applicationSupport(name, backup: backup.policy)
        }
    }
}

enum BackupChoice: String, CaseIterable, ExpressibleByArgument {
    case include, exclude

    var policy: BackupPolicy {
        switch self {
        case .include: .include
        case .exclude: .exclude
        }
    }
}

enum EncodingOption: String, CaseIterable, ExpressibleByArgument {
    case automatic, lz4, identity

    var choice: EncodingChoice {
        switch self {
        case .automatic: .automatic
        case .lz4: .forced(.lz4)
        case .identity: .forced(.identity)
        }
    }
}

public import ArgumentParser
public import PrefetchCache

/// The areas that an item can be moved to when it is opened.
enum DestinationArea: String, CaseIterable, ExpressibleByArgument {
    case documents, support, icloud

    func destination(_ name: FileName, in folder: FolderPath?, backup: BackupChoice) -> Destination {
        switch self {
        case .documents: .documents(name, in: folder, backup: backup.policy)
        case .support: .applicationSupport(name, in: folder, backup: backup.policy)
        // `ItemOptions.validate()` has refused to exclude it from backups.
        case .icloud: .iCloudDrive(name, in: folder)
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

enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off

    init(_ isOn: Bool) {
        self = isOn ? .on : .off
    }
}

extension EvictionPolicyChoice: ExpressibleByArgument {}

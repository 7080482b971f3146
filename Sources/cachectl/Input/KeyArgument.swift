internal import PrefetchCache

extension ItemKey {
    /// A key from the command line.
    static func parse(_ argument: String) throws -> ItemKey { try ItemKey(.parse(argument)) }
}

extension FolderPath {
    /// A folder from the command line.
    static func parse(_ argument: String) throws -> FolderPath { try FolderPath(.parse(argument)) }
}

extension FileName {
    /// A file name from the command line. An invalid one is refused, not changed: the user asked for
    /// this one.
    static func parse(_ argument: String) throws -> FileName { try FileName(.parse(argument)) }
}

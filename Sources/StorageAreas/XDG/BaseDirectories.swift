internal import SystemPackage

/// The folders of the XDG Base Directory Specification in one environment.
///
/// A variable that is unset, empty or not an absolute path is ignored.
struct BaseDirectories {
    private let environment: [String: String]

    init(environment: [String: String]) {
        self.environment = environment
    }

    var home: FilePath? { absolutePath("HOME") }

    /// The user's configuration folder, or `nil` when neither `XDG_CONFIG_HOME` nor `HOME` is usable.
    var configuration: FilePath? {
        absolutePath("XDG_CONFIG_HOME") ?? home?.appending(".config")
    }

    /// `TMPDIR` is not an XDG variable, but that of POSIX for this purpose.
    var temporary: FilePath {
        absolutePath("TMPDIR") ?? "/tmp"
    }

    func cache() throws(StorageAreasError) -> FilePath {
        if let path = absolutePath("XDG_CACHE_HOME") { return path }
        return try requireHome().appending(".cache")
    }

    func data() throws(StorageAreasError) -> FilePath {
        if let path = absolutePath("XDG_DATA_HOME") { return path }
        return try requireHome().appending(".local").appending("share")
    }

    /// - Throws: ``StorageAreasError/homeMissing``
    func requireHome() throws(StorageAreasError) -> FilePath {
        guard let home else { throw .homeMissing }
        return home
    }

    private func absolutePath(_ variable: String) -> FilePath? {
        // A process's environment cannot contain NUL, but a NUL would end the path early here.
        guard let value = environment[variable], value.utf8.first == UInt8(ascii: "/"),
            !value.utf8.contains(0)
        else { return nil }
        return FilePath(value)
    }
}

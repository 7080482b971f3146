internal import PrefetchFileSystem
public import SystemPackage

#if !canImport(Darwin) && canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where the areas of one app are. The folders need not exist yet.
///
/// ```swift
/// let areas = try StorageAreas.application(id: "org.example.podcasts")
/// print(areas.caches)
/// ```
public struct StorageAreas: Sendable, Hashable {
    /// The folder of ``Area/documents``.
    public let documents: FilePath
    /// The folder of ``Area/applicationSupport``.
    public let applicationSupport: FilePath
    /// The folder of ``Area/caches``.
    public let caches: FilePath
    /// The folder of ``Area/temporary``.
    public let temporary: FilePath
    /// The app's folder in iCloud Drive, as the user sees it. `nil` on Linux, except in a container, and
    /// where the app has no iCloud container or the user no account.
    public let iCloudDrive: FilePath?

    /// The same areas with two of them replaced.
    package func replacing(caches: FilePath, applicationSupport: FilePath) -> StorageAreas {
        StorageAreas(
            documents: documents, applicationSupport: applicationSupport, caches: caches,
            temporary: temporary, iCloudDrive: iCloudDrive)
    }

    /// The root of an area; `nil` for ``Area/iCloudDrive`` where ``iCloudDrive`` is `nil`.
    public func path(of area: Area) -> FilePath? {
        switch area {
        case .documents: documents
        case .applicationSupport: applicationSupport
        case .caches: caches
        case .temporary: temporary
        case .iCloudDrive: iCloudDrive
        }
    }

    /// The folder of an app, after a check that its identifier is a safe name on every platform: 1 to 255 of
    /// `A–Z a–z 0–9 . _ -`, not beginning with `.` or `-`, since a hidden folder, or one that looks like an option
    /// of a command, would surprise the user.
    ///
    /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``
    static func folderName(ofApp id: String) throws(StorageAreasError) -> FilePath.Component {
        let isSafe = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isSafe, (1...255).contains(id.utf8.count), id.first != ".", id.first != "-",
            let component = FilePath.Component(id)
        else { throw .invalidApplicationID(id) }
        return component
    }
}

extension StorageAreas {
    /// The areas inside an app's container, such as the `AppData` folder of an `.xcappdata` bundle.
    ///
    /// iCloud Drive is not in a container: the folder `Library/Mobile Documents` stands in for it, and
    /// its content is not uploaded.
    ///
    /// - Parameter root: The container. It need not exist yet. A relative path is resolved against the
    ///   working directory; `.` and `..` are folded without regard to symbolic links.
    /// - Throws: ``StorageAreasError/notADirectory(_:)`` when something other than a folder is at
    ///   `root`, ``StorageAreasError/containerUnreadable(_:_:)`` when it cannot be opened,
    ///   ``StorageAreasError/emptyContainerPath`` and ``StorageAreasError/workingDirectoryMissing``.
    public static func container(at root: FilePath) throws(StorageAreasError) -> StorageAreas {
        let root = try absolute(root)
        try requireFolderOrNothing(at: root)
        let library = root.appending("Library")
        return StorageAreas(
            documents: root.appending("Documents"),
            applicationSupport: library.appending("Application Support"),
            caches: library.appending("Caches"),
            temporary: root.appending("tmp"),
            iCloudDrive: library.appending("Mobile Documents"))
    }

    private static func absolute(_ path: FilePath) throws(StorageAreasError) -> FilePath {
        // An empty path is more often an unset variable in a script than the working directory.
        guard !path.isEmpty else { throw .emptyContainerPath }
        guard path.isRelative else { return path.lexicallyNormalized() }
        do {
            return try LiveFileSystem().resolved(".").pushing(path).lexicallyNormalized()
        } catch {
            throw .workingDirectoryMissing
        }
    }

    private static func requireFolderOrNothing(at root: FilePath) throws(StorageAreasError) {
        do {
            try LiveFileSystem().withFile(root, in: .workingDirectory, .directoryFollowingLinks) { _ in }
        } catch {
            if error.isNotFound { return }
            throw error.errno == .notDirectory
                ? .notADirectory(root) : .containerUnreadable(root, error.errno)
        }
    }
}

/// Why the areas of an app could not be determined. Each description says what to do about it.
public enum StorageAreasError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The identifier is not a safe folder name.
    case invalidApplicationID(String)
    /// An area depends on the home folder, and `HOME` is unset, empty or relative.
    case homeMissing
    /// The file with the user's choice of folders exists but cannot be read.
    case userDirectoriesUnreadable(FilePath, Errno)
    /// The path of a container is empty.
    case emptyContainerPath
    /// A relative path was given, and the working directory was removed.
    case workingDirectoryMissing
    /// Something other than a folder is at the path of a container, or above it.
    case notADirectory(FilePath)
    /// A container exists but cannot be opened.
    case containerUnreadable(FilePath, Errno)
    /// The platform does not name a folder for the area.
    case areaUnavailable(Area)

    public var description: String {
        switch self {
        case .invalidApplicationID(let id):
            """
            \(id.debugDescription) is not a valid application id: use 1 to 255 letters, digits, ".", "_" and "-" \
            (ASCII), beginning with a letter, a digit or "_", for example "org.example.podcasts"
            """
        case .homeMissing:
            """
            the home folder is unknown: set HOME to an absolute path, or set the XDG_* variables \
            (XDG_CACHE_HOME, XDG_DATA_HOME, and XDG_CONFIG_HOME with a user-dirs.dirs)
            """
        case .userDirectoriesUnreadable(let path, let errno):
            "\(path) names the Documents folder but cannot be read (\(errno)): repair or remove the file"
        case .emptyContainerPath:
            "the path of the container is empty: name a folder"
        case .workingDirectoryMissing:
            "the working directory no longer exists: change to another one, or give an absolute path"
        case .notADirectory(let path):
            "\(path) is not a folder, or lies below something that is not: name the folder of a container"
        case .containerUnreadable(let path, let errno):
            "\(path) cannot be opened (\(errno)): check its permissions"
        case .areaUnavailable(let area):
            "the system names no folder for the area \"\(area.name)\": use a container instead"
        }
    }
}

#if canImport(Darwin)
    extension StorageAreas {
        /// The areas that `FileManager` reports.
        ///
        /// A Mac shares them among the apps of a user, so the app's id is appended to each. On the
        /// other platforms they are in the app's own container and stay as they are: the paths are
        /// then those of ``container(at:)`` for a copy of that container.
        ///
        /// iCloud Drive is the `Documents` folder of the app's first iCloud container, and `nil` when the
        /// app has no container or the user no account. In an app with a container, the first call waits for
        /// the system: do not make it on the main thread.
        ///
        /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``,
        ///   ``StorageAreasError/areaUnavailable(_:)``
        public static func application(id: String) throws(StorageAreasError) -> StorageAreas {
            let component = try folderName(ofApp: id)
            return StorageAreas(
                documents: try path(of: .documentDirectory, .documents, component),
                applicationSupport: try path(
                    of: .applicationSupportDirectory, .applicationSupport, component),
                caches: try path(of: .cachesDirectory, .caches, component),
                temporary: own(FilePath(NSTemporaryDirectory()), component),
                iCloudDrive: visibleFolderOfICloudContainer())
        }

        /// The rest of the container, beside `Documents`, is uploaded too, but hidden from the user.
        private static func visibleFolderOfICloudContainer() -> FilePath? {
            FileManager.default.url(forUbiquityContainerIdentifier: nil)
                .map { FilePath($0.path(percentEncoded: false)).appending("Documents") }
        }

        private static func path(
            of directory: FileManager.SearchPathDirectory, _ area: Area, _ id: FilePath.Component
        ) throws(StorageAreasError) -> FilePath {
            guard let url = FileManager.default.urls(for: directory, in: .userDomainMask).first
            else { throw .areaUnavailable(area) }
            return own(FilePath(url.path(percentEncoded: false)), id)
        }

        private static func own(_ path: FilePath, _ id: FilePath.Component) -> FilePath {
            #if os(macOS)
                path.appending(id)
            #else
                path
            #endif
        }
    }
#endif

extension StorageAreas {
    #if !canImport(Darwin)
        /// The areas of the app with a reverse-DNS `id`, from the environment of this process; see
        /// ``application(id:environment:)``.
        public static func application(id: String) throws(StorageAreasError) -> StorageAreas {
            try application(id: id, environment: ProcessInfo.processInfo.environment)
        }
    #endif

    /// The areas of an app by the XDG Base Directory Specification, with `id` appended to each.
    ///
    /// | area | folder |
    /// | --- | --- |
    /// | documents | `XDG_DOCUMENTS_DIR` in `user-dirs.dirs`, or `$HOME/Documents` |
    /// | applicationSupport | `$XDG_DATA_HOME`, or `$HOME/.local/share` |
    /// | caches | `$XDG_CACHE_HOME`, or `$HOME/.cache` |
    /// | temporary | `$TMPDIR`, or `/tmp` |
    ///
    /// iCloud Drive is `nil`.
    ///
    /// A variable whose value is not an absolute path is ignored, as the specification demands.
    /// `/tmp` is shared with other users, one of whom may have taken the name: after creating the
    /// folder, check its owner.
    ///
    /// The only file that is read is `user-dirs.dirs` in `$XDG_CONFIG_HOME`, or `$HOME/.config`. If it
    /// exists and cannot be read, the call fails: falling back to the default folder would put documents
    /// where the user does not look for them, and existing ones would seem lost.
    ///
    /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``, ``StorageAreasError/homeMissing`` when
    ///   an area depends on `HOME`, ``StorageAreasError/userDirectoriesUnreadable(_:_:)``
    public static func application(id: String, environment: [String: String])
        throws(StorageAreasError) -> StorageAreas
    {
        let id = try folderName(ofApp: id)
        // A process's environment cannot contain NUL, but a NUL would end the path early here.
        func path(_ variable: String) -> FilePath? {
            guard let value = environment[variable], value.utf8.first == UInt8(ascii: "/"),
                !value.utf8.contains(0)
            else { return nil }
            return FilePath(value)
        }
        let home = path("HOME")
        func folder(_ path: FilePath?, orInHome relative: FilePath) throws(StorageAreasError) -> FilePath {
            if let path { return path.appending(id) }
            guard let home else { throw .homeMissing }
            return home.pushing(relative).appending(id)
        }
        let chosen = try chosenDocuments(path("XDG_CONFIG_HOME") ?? home?.appending(".config"), home)
        return StorageAreas(
            documents: try folder(chosen, orInHome: "Documents"),
            applicationSupport: try folder(path("XDG_DATA_HOME"), orInHome: ".local/share"),
            caches: try folder(path("XDG_CACHE_HOME"), orInHome: ".cache"),
            // Not a variable of XDG, but that of POSIX for this purpose.
            temporary: (path("TMPDIR") ?? "/tmp").appending(id),
            iCloudDrive: nil)
    }

    private static func chosenDocuments(_ configuration: FilePath?, _ home: FilePath?)
        throws(StorageAreasError) -> FilePath?
    {
        guard let configuration else { return nil }
        let folders = try UserDirectories(in: configuration, of: LiveFileSystem())
        let path = folders.path(of: "XDG_DOCUMENTS_DIR", home: home)
        // xdg-user-dirs writes the home folder itself for a folder that does not exist.
        return path?.lexicallyNormalized() == home?.lexicallyNormalized() ? nil : path
    }
}

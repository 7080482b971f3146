public import Foundation
public import PrefetchFileSystem
package import SystemPackage

/// The locations of an app's areas. The folders need not exist yet.
///
/// ```swift
/// let areas = try StorageAreas.application(id: "org.example.podcasts")
/// print(areas.cachesURL)
/// ```
public struct StorageAreas: Sendable, Hashable {
    /// The folder of ``Area/documents``.
    package let documents: FilePath
    /// The folder of ``Area/applicationSupport``.
    package let applicationSupport: FilePath
    /// The folder of ``Area/caches``.
    package let caches: FilePath
    /// The folder of ``Area/temporary``.
    package let temporary: FilePath
    /// The app's user-visible folder in iCloud Drive. `nil` on Linux, except in a container, and if the app has no
    /// iCloud container or the user is not signed in.
    package let iCloudDrive: FilePath?
    /// The folder in ``Area/documents`` and ``Area/applicationSupport`` below which items are promoted that backups
    /// exclude. `nil` if there is none: each of their files is then marked.
    public private(set) var excludedFolder: FileName?

    /// A copy with another folder for the items that backups exclude.
    ///
    /// - Parameter folder: Named by the app's bundle identifier; `nil` to mark each file where its
    ///   ``Destination`` says.
    public func excluding(into folder: FileName?) -> StorageAreas {
        var areas = self
        areas.excludedFolder = folder
        return areas
    }

    /// A copy whose ``excludedFolder`` is that of an app.
    ///
    /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``
    package func excluding(intoFolderOf id: String) throws(StorageAreasError) -> StorageAreas {
        excluding(into: try Self.folderName(ofApp: id))
    }

    /// The root of an area; `nil` for ``Area/iCloudDrive`` if ``iCloudDrive`` is `nil`.
    package func path(of area: Area) -> FilePath? {
        switch area {
        case .documents: documents
        case .applicationSupport: applicationSupport
        case .caches: caches
        case .temporary: temporary
        case .iCloudDrive: iCloudDrive
        }
    }

    /// The folder name of an app, which is its identifier. It must be a safe name on every platform: 1 to 255 of
    /// `A–Z a–z 0–9 . _ -`, not beginning with `.` or `-`, which would make the folder hidden or look like a
    /// command-line option.
    ///
    /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``
    static func folderName(ofApp id: String) throws(StorageAreasError) -> FileName {
        let isSafe = id.unicodeScalars.allSatisfy { $0.isASCIIAlphanumeric || [".", "_", "-"].contains($0) }
        guard isSafe, id.first != "-" else { throw .invalidApplicationID(id) }
        do {
            return try FileName(id)
        } catch {
            throw .invalidApplicationID(id)
        }
    }
}

extension StorageAreas {
    /// The areas inside an app's container, such as the `AppData` folder of an `.xcappdata` bundle.
    ///
    /// Containers do not contain iCloud Drive: the folder `Library/Mobile Documents` is used in its place, and its
    /// content is not uploaded.
    ///
    /// - Parameter root: The container. It need not exist yet. A relative path is resolved against the working
    ///   directory; `.` and `..` are collapsed lexically, without regard to symbolic links.
    /// - Throws: ``StorageAreasError/notADirectory(_:)`` if `root` is not a folder,
    ///   ``StorageAreasError/containerUnreadable(_:)`` if it cannot be opened,
    ///   ``StorageAreasError/emptyContainerPath`` and ``StorageAreasError/workingDirectoryMissing``.
    package static func container(at root: FilePath) throws(StorageAreasError) -> StorageAreas {
        let root = try absolute(root)
        try requireFolderOrNothing(at: root)
        let library = root.appending("Library")
        return StorageAreas(
            documents: root.appending("Documents"),
            applicationSupport: library.appending("Application Support"),
            caches: library.appending("Caches"),
            temporary: root.appending("tmp"),
            iCloudDrive: library.appending("Mobile Documents"), excludedFolder: nil)
    }

    private static func absolute(_ path: FilePath) throws(StorageAreasError) -> FilePath {
        // An empty path is more likely an unset variable in a script than the working directory.
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
                ? .notADirectory(root.string) : .containerUnreadable(error.naming(root))
        }
    }
}

extension StorageAreas {
    /// The areas inside an app's container, such as the `AppData` folder of an `.xcappdata` bundle. iCloud Drive is not
    /// in a container: the folder `Library/Mobile Documents` stands in for it, and its content is not uploaded.
    ///
    /// A container does not say whose it is, so there is no ``excludedFolder`` until ``excluding(into:)`` names one.
    ///
    /// - Parameter url: A local folder, which need not exist yet.
    /// - Throws: ``StorageAreasError/notADirectory(_:)`` when something other than a folder is there, and
    ///   ``StorageAreasError/containerUnreadable(_:)`` when it cannot be opened.
    public static func container(at url: URL) throws(StorageAreasError) -> StorageAreas {
        try container(at: FilePath(url.path))
    }

    /// The folder of Documents. Like those of the other areas, it need not exist yet.
    public var documentsURL: URL { URL(filePath: documents.string) }
    /// The folder of Application Support.
    public var applicationSupportURL: URL { URL(filePath: applicationSupport.string) }
    /// The folder of Caches.
    public var cachesURL: URL { URL(filePath: caches.string) }
    /// The folder for temporary files.
    public var temporaryURL: URL { URL(filePath: temporary.string) }
    /// The folder of iCloud Drive; `nil` where the user has no account.
    public var iCloudDriveURL: URL? { iCloudDrive.map { URL(filePath: $0.string) } }

    /// The current URL of a location; `nil` in an area that is unavailable.
    public func url(of location: AreaPath) -> URL? {
        path(of: location.area).map { URL(filePath: $0.pushing(location.relative).string) }
    }
}

extension StorageAreas {
    private static let downloads: FileName = "Downloads"

    /// The ``excludedFolder`` of an area. In one that is itself named by the app, as Documents is on Linux, it is `Downloads`.
    package func excludedFolder(in area: Area) -> FileName? {
        guard let excludedFolder, area != .iCloudDrive else { return nil }
        return area == .documents && documents.lastComponent?.string == excludedFolder.string
            ? Self.downloads : excludedFolder
    }

    /// Whether that is the name of the folder, or was before it was ``excludedFolder(in:)``.
    package func isExcludedFolder(_ name: FileName?, in area: Area) -> Bool {
        guard let name, let now = excludedFolder(in: area) else { return false }
        return name == now || name == excludedFolder
    }

    /// The folder that a file goes to: for one that backups exclude the folder of its destination below the
    /// ``excludedFolder``, and for one that they include never below that.
    ///
    /// A path that would become too long stays as it is, and its file is marked.
    package func folder(for destination: Destination) -> FolderPath? {
        guard let excludedFolder = excludedFolder(in: destination.area) else { return destination.folder }
        let names = destination.folder?.components ?? []
        let isBelow = isExcludedFolder(names.first, in: destination.area)
        if isBelow == (destination.backup == .exclude) { return destination.folder }
        do {
            if isBelow { return names.count == 1 ? nil : try FolderPath(Array(names.dropFirst())) }
            return try FolderPath([excludedFolder] + names)
        } catch {
            return destination.folder
        }
    }
}

/// Why the areas of an app could not be determined. Each description includes advice.
public enum StorageAreasError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The identifier is not a safe folder name.
    case invalidApplicationID(String)
    /// An area depends on the home folder, and `HOME` is unset, empty or relative.
    case homeMissing
    /// The file with the user's choice of folders (`user-dirs.dirs`) exists but cannot be read.
    case userDirectoriesUnreadable(FileSystemError)
    /// The path of a container is empty.
    case emptyContainerPath
    /// A relative path was given, but the working directory has been removed.
    case workingDirectoryMissing
    /// The path of a container, or one of its parents, is not a folder.
    case notADirectory(String)
    /// A container exists but cannot be opened.
    case containerUnreadable(FileSystemError)
    /// The platform has no folder for the area.
    case areaUnavailable(Area)
    /// The app does not belong to the group.
    case appGroupUnavailable(String)

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
        case .userDirectoriesUnreadable(let error):
            "the file that names the Documents folder cannot be read (\(error)): repair or remove it"
        case .emptyContainerPath:
            "the path of the container is empty: specify a folder"
        case .workingDirectoryMissing:
            "the working directory no longer exists: change to another one, or give an absolute path"
        case .notADirectory(let path):
            "\(path) is not a folder, or one of its parents is not: specify a container's folder"
        case .containerUnreadable(let error):
            "the container cannot be opened (\(error)): check its permissions"
        case .appGroupUnavailable(let id):
            "there is no container of the group \(id): add the group to the app's entitlements"
        case .areaUnavailable(let area):
            "the system has no folder for the area \"\(area.name)\": use a container instead"
        }
    }
}

#if canImport(Darwin)
    extension StorageAreas {
        /// The areas that `FileManager` reports.
        ///
        /// On macOS, apps share these folders, so the app's id is appended to each. On other platforms they are in the
        /// app's own container and are used unchanged, so that the layout is that of ``container(at:)``.
        ///
        /// iCloud Drive is the `Documents` folder of the app's first iCloud container, or `nil` if the app has no such
        /// container or the user is not signed in. In an app with an iCloud container, the first call blocks: do not
        /// make it on the main thread.
        ///
        /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``,
        ///   ``StorageAreasError/areaUnavailable(_:)``
        public static func application(id: String) throws(StorageAreasError) -> StorageAreas {
            let name = try folderName(ofApp: id)
            let component = FilePath(name.string)
            return StorageAreas(
                documents: try path(of: .documentDirectory, .documents, component),
                applicationSupport: try path(
                    of: .applicationSupportDirectory, .applicationSupport, component),
                caches: try path(of: .cachesDirectory, .caches, component),
                temporary: own(FilePath(NSTemporaryDirectory()), component),
                iCloudDrive: visibleFolderOfICloudContainer(), excludedFolder: name)
        }

        /// The areas in the container that the apps and extensions of a group share. Its layout is that of
        /// ``container(at:)``; iCloud Drive and temporary files are those of ``application(id:)``.
        ///
        /// An app that is suspended while it holds a lock in a group's container is terminated (`0xdead10cc`).
        ///
        /// - Parameter id: As in the entitlement `com.apple.security.application-groups`.
        /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``, ``StorageAreasError/appGroupUnavailable(_:)``,
        ///   and what ``container(at:)`` throws.
        public static func appGroup(_ id: String) throws(StorageAreasError) -> StorageAreas {
            let name = try folderName(ofApp: id)
            guard let url = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: id) else {
                throw .appGroupUnavailable(id)
            }
            let container = try container(at: url)
            return StorageAreas(
                documents: container.documents, applicationSupport: container.applicationSupport,
                caches: container.caches,
                temporary: own(FilePath(NSTemporaryDirectory()), FilePath(name.string)),
                iCloudDrive: visibleFolderOfICloudContainer(), excludedFolder: name)
        }

        /// Everything else in the container is also uploaded, but hidden from the user.
        private static func visibleFolderOfICloudContainer() -> FilePath? {
            FileManager.default.url(forUbiquityContainerIdentifier: nil)
                .map { FilePath($0.path(percentEncoded: false)).appending("Documents") }
        }

        private static func path(
            of directory: FileManager.SearchPathDirectory, _ area: Area, _ id: FilePath
        ) throws(StorageAreasError) -> FilePath {
            guard let url = FileManager.default.urls(for: directory, in: .userDomainMask).first
            else { throw .areaUnavailable(area) }
            return own(FilePath(url.path(percentEncoded: false)), id)
        }

        private static func own(_ path: FilePath, _ id: FilePath) -> FilePath {
            #if os(macOS)
                path.pushing(id)
            #else
                path
            #endif
        }
    }
#endif

extension StorageAreas {
    #if !canImport(Darwin)
        /// The areas of the app with a reverse-DNS `id`, based on this process's environment; see
        /// ``application(id:environment:)``.
        public static func application(id: String) throws(StorageAreasError) -> StorageAreas {
            try application(id: id, environment: ProcessInfo.processInfo.environment)
        }
    #endif

    /// The areas of an app according to the XDG Base Directory Specification, with `id` appended to each.
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
    /// A variable whose value is not an absolute path is ignored, as the specification requires. `/tmp` is shared with
    /// other users, who may have created the name: check the owner after creating the folder.
    ///
    /// The only file that is read is `user-dirs.dirs` in `$XDG_CONFIG_HOME`, or `$HOME/.config`. If it exists but
    /// cannot be read, the call fails: falling back to the default folder would put documents where the user does not
    /// look for them, and existing ones would seem lost.
    ///
    /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``, ``StorageAreasError/homeMissing`` if an area depends
    ///   on `HOME`, ``StorageAreasError/userDirectoriesUnreadable(_:)``
    public static func application(id: String, environment: [String: String])
        throws(StorageAreasError) -> StorageAreas
    {
        let name = try folderName(ofApp: id)
        let id = FilePath(name.string)
        // A real environment cannot contain NUL, but a NUL in `environment` would truncate the path.
        func path(_ variable: String) -> FilePath? {
            guard let value = environment[variable], value.utf8.first == UInt8(ascii: "/"),
                !value.utf8.contains(0)
            else { return nil }
            return FilePath(value)
        }
        let home = path("HOME")
        func folder(_ path: FilePath?, orInHome relative: FilePath) throws(StorageAreasError) -> FilePath {
            if let path { return path.pushing(id) }
            guard let home else { throw .homeMissing }
            return home.pushing(relative).pushing(id)
        }
        let chosen = try chosenDocuments(path("XDG_CONFIG_HOME") ?? home?.appending(".config"), home)
        return StorageAreas(
            documents: try folder(chosen, orInHome: "Documents"),
            applicationSupport: try folder(path("XDG_DATA_HOME"), orInHome: ".local/share"),
            caches: try folder(path("XDG_CACHE_HOME"), orInHome: ".cache"),
            // Defined by POSIX rather than XDG.
            temporary: (path("TMPDIR") ?? "/tmp").pushing(id),
            iCloudDrive: nil, excludedFolder: name)
    }

    private static func chosenDocuments(_ configuration: FilePath?, _ home: FilePath?)
        throws(StorageAreasError) -> FilePath?
    {
        guard let configuration else { return nil }
        let folders = try UserDirectories(in: configuration, of: LiveFileSystem())
        let path = folders.path(of: "XDG_DOCUMENTS_DIR", home: home)
        // xdg-user-dirs sets a folder that does not exist to the home folder.
        return path?.lexicallyNormalized() == home?.lexicallyNormalized() ? nil : path
    }
}

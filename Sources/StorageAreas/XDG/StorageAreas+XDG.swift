internal import FileSystem
internal import SystemPackage

extension StorageAreas {
    /// The areas of an app by the XDG Base Directory Specification, with `id` appended to each.
    ///
    /// | area | folder |
    /// | --- | --- |
    /// | documents | `XDG_DOCUMENTS_DIR` in `user-dirs.dirs`, or `$HOME/Documents` |
    /// | applicationSupport | `$XDG_DATA_HOME`, or `$HOME/.local/share` |
    /// | caches | `$XDG_CACHE_HOME`, or `$HOME/.cache` |
    /// | temporary | `$TMPDIR`, or `/tmp` |
    ///
    /// There is no iCloud Drive.
    ///
    /// A variable whose value is not an absolute path is ignored, as the specification demands.
    /// `/tmp` is shared with other users, one of whom may have taken the name: whoever creates the
    /// folder has to look at its owner.
    ///
    /// `user-dirs.dirs` in `$XDG_CONFIG_HOME`, or `$HOME/.config`, is the one file that is read. When
    /// it is there and cannot be read, that is an error: going on with the default folder would put
    /// documents where the user does not look for them, and those of yesterday would seem gone.
    ///
    /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``, ``StorageAreasError/homeMissing`` when
    ///   an area depends on `HOME`, ``StorageAreasError/userDirectoriesUnreadable(_:_:)``
    public static func application(id: String, environment: [String: String])
        throws(StorageAreasError) -> StorageAreas
    {
        let id = try ApplicationID(id).component
        let base = BaseDirectories(environment: environment)
        return StorageAreas(
            documents: try documents(base).appending(id),
            applicationSupport: try base.data().appending(id),
            caches: try base.cache().appending(id),
            temporary: base.temporary.appending(id),
            iCloudDrive: nil)
    }

    private static func documents(_ base: BaseDirectories) throws(StorageAreasError) -> FilePath {
        if let configuration = base.configuration {
            let chosen = try UserDirectories(in: configuration, of: LiveFileSystem())
            // The home folder itself is how xdg-user-dirs writes "there is no such folder".
            if let path = chosen.path(of: "XDG_DOCUMENTS_DIR", home: base.home),
                path.lexicallyNormalized() != base.home?.lexicallyNormalized()
            {
                return path
            }
        }
        return try base.requireHome().appending("Documents")
    }
}

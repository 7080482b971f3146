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
            // xdg-user-dirs writes the home folder itself for a folder that does not exist.
            if let path = chosen.path(of: "XDG_DOCUMENTS_DIR", home: base.home),
                path.lexicallyNormalized() != base.home?.lexicallyNormalized()
            {
                return path
            }
        }
        return try base.requireHome().appending("Documents")
    }
}

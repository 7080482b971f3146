#if canImport(Darwin)
    internal import Foundation
    internal import SystemPackage

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
            let component = try ApplicationID(id).component
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

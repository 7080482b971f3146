#if !canImport(Darwin)
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension StorageAreas {
        /// The areas of the app with a reverse-DNS `id`, from the environment of this process; see
        /// ``application(id:environment:)``.
        public static func application(id: String) throws(StorageAreasError) -> StorageAreas {
            try application(id: id, environment: ProcessInfo.processInfo.environment)
        }
    }
#endif

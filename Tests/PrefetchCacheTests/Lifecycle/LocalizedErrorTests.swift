import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

/// What an app logs that prints any error's `localizedDescription`.
@Suite struct LocalizedErrorTests {
    private static let noSpace = FileSystemError("write", path: "k", errno: .noSpace)

    private static let errors: [any Error & CustomStringConvertible] = [
        noSpace, CacheError.fileSystem(noSpace), CacheError.closed, ItemFormatError.damaged(.trailer),
        StorageAreasError.homeMissing, ItemKeyError.empty, FileNameError.empty, FolderPathError.empty,
    ]

    @Test(arguments: errors.indices)
    func itIsTheTextOfTheError(index: Int) {
        let error = Self.errors[index]
        #expect(error.localizedDescription == error.description)
    }
}

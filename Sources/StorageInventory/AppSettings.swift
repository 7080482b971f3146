internal import Foundation
package import PrefetchFileSystem
package import SystemPackage

/// The settings in an app's `Info.plist` that affect access to its documents.
package struct AppSettings: Sendable, Hashable {
    /// `UIFileSharingEnabled`
    package let isFileSharingEnabled: Bool
    /// `LSSupportsOpeningDocumentsInPlace`
    package let opensDocumentsInPlace: Bool

    /// Whether the content of Documents is visible to the user.
    var isSharing: Bool { isFileSharingEnabled || opensDocumentsInPlace }

    /// In bytes; the longest known files have a few hundred KiB.
    private static let limit: Int64 = 16 << 20

    /// Reads an XML or binary property list.
    ///
    /// - Throws: ``AppSettingsError``
    package init(at path: FilePath, in fileSystem: any FileSystem) throws(AppSettingsError) {
        let bytes: [UInt8]
        do {
            bytes = try fileSystem.content(of: path, atMost: Self.limit)
        } catch {
            throw .unreadable(path, error.errno)
        }
        let list: Any
        do {
            list = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        } catch {
            throw .notAPropertyList(path)
        }
        guard let settings = list as? [String: Any] else { throw .notAPropertyList(path) }
        isFileSharingEnabled = settings["UIFileSharingEnabled"] as? Bool ?? false
        opensDocumentsInPlace = settings["LSSupportsOpeningDocumentsInPlace"] as? Bool ?? false
    }
}

/// Why an `Info.plist` could not be used.
package enum AppSettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(FilePath, Errno)
    case notAPropertyList(FilePath)

    package var description: String {
        switch self {
        case .unreadable(let path, let errno):
            "\(path.displayText) cannot be read (\(errno)): specify the app's Info.plist"
        case .notAPropertyList(let path):
            "\(path.displayText) is not a property list with a dictionary: specify the app's Info.plist"
        }
    }
}

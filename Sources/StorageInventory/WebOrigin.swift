package import Foundation
package import PrefetchFileSystem
internal import PrefetchStorageAreas

/// The address on the web that a file was downloaded from, as browsers and downloaders leave it in an attribute.
struct WebOrigin {
    /// Without user, password, query and fragment, any of which may hold a secret.
    let url: URL

    /// - Returns: `nil` if no attribute of the file has an address.
    init?(of file: Descriptor, in fileSystem: any FileSystem) throws {
        let mark = BackupMark(fileSystem: fileSystem)
        for name in Self.attributes {
            guard let value = try mark.attribute(name, of: file) else { continue }
            if let url = Self.texts(in: value).lazy.compactMap(Self.url).first {
                self.url = url
                return
            }
        }
        return nil
    }

    /// That of freedesktop.org, and Apple's, which has another name where a copy of a container was made on Linux.
    private static let attributes: [String] = {
        let names = ["user.xdg.origin.url", "com.apple.metadata:kMDItemWhereFroms"]
        #if canImport(Darwin)
            return names
        #else
            return [names[0], "user." + names[1]]
        #endif
    }()

    /// A value is a text, or a property list with an array of them.
    private static func texts(in value: [UInt8]) -> [String] {
        guard value.starts(with: "bplist".utf8) else { return [String(decoding: value, as: UTF8.self)] }
        do {
            let list = try PropertyListSerialization.propertyList(from: Data(value), format: nil)
            return list as? [String] ?? []
        } catch {
            // Whatever wrote it, it says nothing about the file.
            return []
        }
    }

    private static func url(_ text: String) -> URL? {
        guard var parts = URLComponents(string: text.trimmingCharacters(in: ["\0"])),
            ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false
        else { return nil }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.url
    }
}

extension FileInventory {
    /// The address on the web that an attribute of a file says it was downloaded from, without what may be a secret.
    package func webOrigin(of file: InventoryFile, in fileSystem: any FileSystem) throws -> URL? {
        guard file.kind != .link, file.kind != .special,
            let index = files.firstIndex(where: { $0.folder == file.folder && $0.name == file.name })
        else { return nil }
        var reader = FileReader(fileSystem)
        return try reader.withFile(Int32(index), of: self) { try WebOrigin(of: $0, in: fileSystem) }??.url
    }
}

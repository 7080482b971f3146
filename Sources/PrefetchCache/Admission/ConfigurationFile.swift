internal import FileSystem
internal import Synchronization
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// `configuration.json`, read again when another process has written it.
final class ConfigurationFile: Sendable {
    private static let limit = 64 << 10

    private struct Loaded: Sendable {
        var configuration: CacheConfiguration
        var attributes: FileAttributes?
    }

    private let folder: Directory
    private let loaded = Mutex<Loaded?>(nil)

    init(in folder: Directory) {
        self.folder = folder
    }

    /// The configuration as it was read last, without a look at the file.
    var lastKnown: CacheConfiguration { loaded.withLock { $0?.configuration } ?? CacheConfiguration() }

    /// The configuration in force. Costs one `stat` while the file stays as it is.
    ///
    /// - Throws: ``CacheError/configuration(_:)`` for a file that cannot be understood. It is never
    ///   replaced by a default: an operator's limit must not be lost to a typing error.
    func current() throws(CacheError) -> CacheConfiguration {
        let name = FilePath(root: nil, [CacheLayout.configuration])
        let attributes = try onFiles { () throws(FileSystemError) in
            try folder.fileSystem.attributes(of: name, in: folder.descriptor)
        }
        if let loaded = loaded.withLock({ $0 }), loaded.attributes == attributes {
            return loaded.configuration
        }
        let bytes = try onFiles { () throws(FileSystemError) in
            try folder.fileSystem.contents(of: name, in: folder.descriptor, limit: Self.limit)
        }
        let configuration = try bytes.map(Self.decode) ?? CacheConfiguration()
        loaded.withLock { $0 = Loaded(configuration: configuration, attributes: attributes) }
        return configuration
    }

    func replace(with configuration: CacheConfiguration) throws(CacheError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try encoder.encode(configuration)) + [UInt8(ascii: "\n")]
        } catch {
            throw .configuration("the configuration cannot be written as JSON: \(error)")
        }
        try onFiles { () throws(FileSystemError) in
            try folder.fileSystem.replaceContents(
                of: CacheLayout.configuration, in: folder.descriptor, with: bytes,
                permissions: CacheLayout.filePermissions, durable: true)
        }
    }

    private static func decode(_ bytes: [UInt8]) throws(CacheError) -> CacheConfiguration {
        do {
            return try JSONDecoder().decode(CacheConfiguration.self, from: Data(bytes))
        } catch let problem as ConfigurationProblem {
            throw .configuration("configuration.json cannot be used: \(problem)")
        } catch {
            throw .configuration(
                "configuration.json cannot be read (\(error)); correct it, or remove it to use the defaults")
        }
    }
}

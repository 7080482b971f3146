internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

/// `configuration.json`, reread when another process has written it.
final class ConfigurationFile: Sendable {
    private static let limit = 64 << 10

    private let folder: Directory
    private let patience: Patience
    private let loaded = UnfairMutex<(configuration: CacheConfiguration, of: FileAttributes?)?>(nil)

    init(in folder: Directory, _ patience: Patience) {
        self.folder = folder
        self.patience = patience
    }

    /// The configuration as last read, without accessing the file.
    var lastKnown: CacheConfiguration { loaded.withLock { $0?.configuration } ?? CacheConfiguration() }

    /// Returns the configuration in force. Costs one `stat` while the file is unchanged.
    ///
    /// - Throws: ``CacheError/configuration(_:)`` for a file that is invalid. It is never replaced by a default: a typo
    ///   must not remove an operator's limit.
    func current() throws(CacheError) -> CacheConfiguration {
        let name = FilePath(root: nil, [CacheLayout.configuration])
        let attributes = try onFiles(folder.fileSystem.attributes(of: name, in: folder.descriptor))
        if let loaded = loaded.withLock({ $0 }), loaded.of == attributes {
            return loaded.configuration
        }
        let configuration = try contents(of: name).map(Self.decode) ?? CacheConfiguration()
        loaded.withLock { $0 = (configuration, attributes) }
        return configuration
    }

    private func contents(of name: FilePath) throws(CacheError) -> [UInt8]? {
        do {
            return try folder.fileSystem.contents(of: name, in: folder.descriptor, limit: Self.limit)
        } catch {
            if error.errno == .fileTooLarge {
                throw .configuration(
                    "configuration.json is longer than \(Self.limit) bytes; \(Self.advice)")
            }
            guard error.isNotRegularFile else { throw .fileSystem(error) }
            throw .configuration(
                "configuration.json is a link or the like and is not followed; put the file itself there, "
                    + "or remove it to use the defaults")
        }
    }

    private static let advice = "correct it, or remove it to use the defaults"

    /// Writes a configuration, durably.
    ///
    /// - Throws: ``CacheError/configuration(_:)`` for one that could not be read back; nothing is written then.
    func replace(with configuration: CacheConfiguration) throws(CacheError) {
        try exclusively { () throws(CacheError) in try write(configuration) }
    }

    /// Changes the configuration in force, durably. Atomic with respect to other changes.
    ///
    /// - Returns: The new configuration.
    func change(_ change: (inout CacheConfiguration) -> Void) throws(CacheError) -> CacheConfiguration {
        try exclusively { () throws(CacheError) in
            var configuration = try current()
            change(&configuration)
            try write(configuration)
            return configuration
        }
    }

    /// Runs `body` while no other process or thread writes the file.
    private func exclusively<Result>(_ body: () throws(CacheError) -> Result) throws(CacheError) -> Result {
        let lock = try folder.takeLock(patience, for: "configuration")
        defer { folder.fileSystem.unlock(lock) }
        return try body()
    }

    private func write(_ configuration: CacheConfiguration) throws(CacheError) {
        if let problem = configuration.problem { throw .configuration(problem) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try encoder.encode(configuration)) + [UInt8(ascii: "\n")]
        } catch {
            throw .configuration("the configuration cannot be written as JSON: \(error)")
        }
        try onFiles(
            folder.fileSystem.replaceContents(
                of: CacheLayout.configuration, in: folder.descriptor, with: bytes,
                permissions: CacheLayout.filePermissions, durable: true))
    }

    private static func decode(_ bytes: [UInt8]) throws(CacheError) -> CacheConfiguration {
        do {
            return try JSONDecoder().decode(CacheConfiguration.self, from: Data(bytes))
        } catch let problem as ConfigurationProblem {
            throw .configuration("configuration.json cannot be used: \(problem)")
        } catch {
            throw .configuration("configuration.json cannot be read (\(error)); \(advice)")
        }
    }
}

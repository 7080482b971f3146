public import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
@_exported public import PrefetchStorageAreas
internal import SystemPackage

/// What is wrong with the files that an app stores, by the rules of `cachectl inventory --check`.
///
/// ```swift
/// @Test func everyFileIsWhereItBelongs() async throws {
///     let check = try await StorageCheck(of: areas, manifest: storageManifest)
///     #expect(check.findings.isEmpty, "\(check)")
/// }
/// ```
///
/// A check reads, and changes nothing. The app may go on meanwhile.
public struct StorageCheck: Sendable {
    /// Errors first, then warnings, then notes; each in the order of the rules.
    public let findings: [Finding]
    /// What could not be read, with the reason. Rules skip it.
    public let problems: [String]

    /// Checks the areas of an app.
    ///
    /// - Parameters:
    ///   - areas: The areas of the app. Nothing beside them is looked at.
    ///   - manifest: The app's `storage.json`, which says what its files are for.
    ///   - infoPlist: The app's `Info.plist`, for what it declares about its documents.
    ///   - unusedFor: How long an excluded file may stay unused; `nil` for 30 days.
    /// - Throws: ``StorageCheckError``
    /// - Complexity: O(*n*) in the number of files. Some are opened, and those of equal length that begin alike are read
    ///   completely.
    public init(
        of areas: StorageAreas, manifest: URL? = nil, infoPlist: URL? = nil,
        unusedFor: Duration? = nil
    ) async throws(StorageCheckError) {
        try await self.init(InventoryPlace(areas: areas, container: nil), manifest, infoPlist, unusedFor)
    }

    /// Checks all that is in a container, also beside the areas, such as a copy from a device.
    ///
    /// A container is the folder that holds an app's Documents, Library and tmp. The other parameters are those of
    /// ``init(of:manifest:infoPlist:unusedFor:)``.
    ///
    /// - Throws: ``StorageCheckError``
    /// - Complexity: As ``init(of:manifest:infoPlist:unusedFor:)``.
    public init(
        ofContainer container: URL, manifest: URL? = nil, infoPlist: URL? = nil,
        unusedFor: Duration? = nil
    ) async throws(StorageCheckError) {
        let areas: StorageAreas
        do {
            areas = try .container(at: container)
        } catch {
            throw .notExaminable("\(error)")
        }
        try await self.init(
            InventoryPlace(areas: areas, container: areas.documents.removingLastComponent()), manifest,
            infoPlist, unusedFor)
    }

    private init(_ place: InventoryPlace, _ manifest: URL?, _ infoPlist: URL?, _ unusedFor: Duration?)
        async throws(StorageCheckError)
    {
        // Its threads may block.
        self = try await withTaskExecutorPreference(BlockingExecutor()) {
            () async throws(StorageCheckError) in
            try Self(blocking: place, manifest, infoPlist, unusedFor)
        }
    }

    private init(blocking place: InventoryPlace, _ manifest: URL?, _ infoPlist: URL?, _ unusedFor: Duration?)
        throws(StorageCheckError)
    {
        let fileSystem = LiveFileSystem()
        var options = Checkup.Options(now: Int64(Date().timeIntervalSince1970 * 1000))
        if let unusedFor {
            // Bounded, so that no sum overflows: by about 30,000 years.
            options.unusedFor = Int64(min(max(0, unusedFor / .milliseconds(1)), 1e15))
        }
        let inventory: FileInventory
        do {
            options.manifest = try manifest.map { try StorageManifest(at: FilePath($0.path), in: fileSystem) }
            options.settings = try infoPlist.map { try AppSettings(at: FilePath($0.path), in: fileSystem) }
            inventory = try FileInventory(of: place, in: fileSystem)
        } catch let error as ManifestError {
            throw .manifest("\(error)")
        } catch let error as AppSettingsError {
            throw .infoPlist("\(error)")
        } catch {
            throw .notExaminable("\(error)")
        }
        let (findings, problems) = Checkup.run(on: inventory, options, in: fileSystem)
        self.findings = findings
        self.problems = (inventory.problems + problems).map { "\($0.path): \($0.reason)" }
    }
}

extension StorageCheck: CustomStringConvertible {
    /// The findings and then the problems, one per line.
    public var description: String {
        let lines = findings.map(\.description) + problems.map { "not read: \($0)" }
        return lines.isEmpty ? "nothing is wrong" : lines.joined(separator: "\n")
    }
}

/// Why nothing could be checked. Each case says what to do about it.
public enum StorageCheckError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is nothing to check, or it cannot be opened.
    case notExaminable(String)
    /// The manifest cannot be read, or has an error.
    case manifest(String)
    /// The `Info.plist` cannot be read.
    case infoPlist(String)

    public var description: String {
        switch self {
        case .notExaminable(let reason), .manifest(let reason), .infoPlist(let reason): reason
        }
    }
}

extension StorageCheckError: LocalizedError { public var errorDescription: String? { description } }

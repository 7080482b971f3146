package import PrefetchFileSystem
internal import Synchronization

/// What a volume of an Apple device knows of its files in addition to what Linux does, for an
/// ``InterceptingFileSystem``.
package final class AppleVolume: Sendable {
    private struct State: Sendable {
        var protections: [FileAttributes.Identity: FileProtection] = [:]
        var dataless: Set<FileAttributes.Identity> = []
    }

    private let initial: FileProtection
    private let state = Mutex(State())

    /// - Parameter protection: Of everything that was not given another one.
    package init(protection: FileProtection = .completeUntilFirstUserAuthentication) {
        initial = protection
    }

    package func protection(of file: FileAttributes.Identity) -> FileProtection {
        state.withLock { $0.protections[file] } ?? initial
    }

    package func protect(_ file: FileAttributes.Identity, _ protection: FileProtection) {
        state.withLock { $0.protections[file] = protection }
    }

    /// Removes the content of a file from the device, which stays in iCloud.
    package func evict(_ file: FileAttributes.Identity) {
        state.withLock { _ = $0.dataless.insert(file) }
    }

    package func attributes(_ file: FileAttributes) -> FileAttributes {
        guard state.withLock({ $0.dataless.contains(file.identity) }) else { return file }
        return FileAttributes(
            kind: file.kind, identity: file.identity, length: file.length, allocated: 0,
            linkCount: file.linkCount, owner: file.owner, permissions: file.permissions,
            modified: file.modified, isDataless: true)
    }
}

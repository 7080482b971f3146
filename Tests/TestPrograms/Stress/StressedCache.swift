internal import Foundation
internal import Logging
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

extension PrefetchCache {
    /// The cache in a container, on a volume that is never short of space: what is tested here is the
    /// budget, whatever the machine has left.
    convenience init(inContainer path: String) async throws {
        var environment = CacheEnvironment.live(
            logger: Logger(label: "testprograms", factory: { _ in SwiftLogNoOpLogHandler() }))
        environment.probe = FixedVolumeProbe(VolumeState(total: 1 << 40, available: 1 << 39))
        let root = URL(filePath: path, directoryHint: .isDirectory)
        try await self.init(areas: .container(at: root), environment: environment)
    }
}

/// Prints a report as one object of JSON.
func printJSON(_ report: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    print(String(decoding: try encoder.encode(report), as: UTF8.self))
}

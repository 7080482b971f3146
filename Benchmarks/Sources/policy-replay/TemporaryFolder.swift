import Foundation

/// A folder for the catalog of a simulation, gone when the program ends, however that comes about.
enum TemporaryFolder {
    static func with<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "policy-replay-\(UUID().uuidString)")
        let signals = [SIGINT, SIGTERM, SIGHUP].map { number in
            removing(folder, on: number)
        }
        defer { signals.forEach { $0.cancel() } }
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        do {
            let result = try body(folder)
            try FileManager.default.removeItem(at: folder)
            return result
        } catch {
            remove(folder)
            throw error
        }
    }

    /// Has a signal end the program as it would anyway, but without leaving the folder behind.
    private static func removing(_ folder: URL, on number: Int32) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            remove(folder)
            exit(128 + number)
        }
        source.activate()
        return source
    }

    private static func remove(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            FileHandle.standardError.write(Data("policy-replay: \(folder.path) stays: \(error)\n".utf8))
        }
    }
}

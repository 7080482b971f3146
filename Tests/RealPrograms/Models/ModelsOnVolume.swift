internal import ArgumentParser
internal import Foundation
internal import PrefetchCache

/// The program itself, in a mount namespace of its own.
struct ModelsOnVolume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "models-on-volume", abstract: "Does what 'models' does, where it may mount.", shouldDisplay: false)

    @Option var folder: String
    @Option var volumeLength: Int64
    @Option var modelLength: Int64
    @Flag var broken = false

    func run() async throws {
        let notes = Notebook(isChild: true)
        _ = Parent.lines()
        let folder = URL(filePath: folder, directoryHint: .isDirectory)
        let volume = folder.appending(path: "volume", directoryHint: .isDirectory)
        try mount(at: volume, image: folder.appending(path: "image"))
        let container = volume.appending(path: "container", directoryHint: .isDirectory)
        let vitals = try Vitals(notes, container: container)
        try await play(in: container, notes)
        try await vitals.end(idleThreads: 10)
        // A volume that anything is still open on cannot be unmounted.
        try system("/usr/bin/umount", volume.path)
    }

    private func play(in container: URL, _ notes: Notebook) async throws {
        try await ModelPlay(in: container, length: modelLength, notes, isBroken: broken).run()
    }

    private func mount(at volume: URL, image: URL) throws {
        try FileManager.default.createDirectory(at: volume, withIntermediateDirectories: false)
        try system("/usr/bin/truncate", "-s", "\(volumeLength)", image.path)
        try system("/usr/sbin/mkfs.ext4", "-q", "-F", image.path)
        try system("/usr/bin/mount", "-o", "loop", image.path, volume.path)
        // The mount keeps it.
        unlink(image.path)
    }

    private struct Failure: Error {
        let command: String
    }

    private func system(_ command: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: command)
        process.arguments = arguments
        process.standardOutput = FileHandle.standardError
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(command: command) }
    }
}

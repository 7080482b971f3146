internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

/// The content for a new item: a file that the user named, or standard input.
final class InputFile {
    static let standardInput: FilePath = "-"

    let name: String
    /// Whether the length is known before reading, unlike that of a pipe or a file in `/proc`.
    private(set) var hasLength = false

    private let descriptor: Descriptor
    private let isOwned: Bool

    init(_ path: FilePath) throws(CommandFailure) {
        isOwned = path != Self.standardInput
        name = isOwned ? path.displayText : "standard input"
        do throws(FileSystemError) {
            guard isOwned else {
                descriptor = Descriptor(rawValue: StandardStreams.input.rawValue)
                return
            }
            descriptor = try LiveFileSystem().open(path, in: .workingDirectory, .readFollowingLinks)
            let found = try LiveFileSystem().attributes(of: descriptor)
            try Self.refuseFolder(found)
            hasLength = found.kind == .regular && found.length > 0
        } catch {
            throw Self.failure(name, error)
        }
    }

    /// Whether there is a folder at a path; standard input is none.
    static func isFolder(_ path: FilePath) -> Bool {
        guard path != standardInput else { return false }
        do {
            // A link to a folder is followed, as one to a file is.
            let folder = try LiveFileSystem().open(path, in: .workingDirectory, .directoryFollowingLinks)
            LiveFileSystem().close(folder)
            return true
        } catch {
            // Whatever is wrong with it is reported when it is read as a file.
            return false
        }
    }

    /// Checks that the file exists, without opening it: opening a named pipe twice would lose its content.
    static func check(_ path: FilePath) throws(CommandFailure) {
        guard path != standardInput else { return }
        do throws(FileSystemError) {
            try refuseFolder(LiveFileSystem().attributes(of: path, in: .workingDirectory))
        } catch {
            throw Self.failure(path.displayText, error)
        }
    }

    private static func refuseFolder(_ found: FileAttributes?) throws(FileSystemError) {
        guard let found else { throw FileSystemError("open", errno: .noSuchFileOrDirectory) }
        if found.kind == .directory { throw FileSystemError("read", errno: .isDirectory) }
    }

    static func failure(_ name: String, _ error: FileSystemError) -> CommandFailure {
        let isNoFile = [.noSuchFileOrDirectory, .notDirectory, .isDirectory].contains(error.errno)
        return CommandFailure(isNoFile ? .notFound : ExitCode(error), "cannot read \(name): \(error.errno)")
    }

    deinit { if isOwned { LiveFileSystem().close(descriptor) } }

    /// Fills `piece` from the input, and returns the number of bytes: fewer than asked for mean the end of the input.
    func read(into piece: inout Data) throws(CommandFailure) -> Int {
        let file = FileDescriptor(rawValue: descriptor.rawValue)
        do {
            return try piece.withUnsafeMutableBytes { buffer in
                var count = 0
                while count < buffer.count {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                    let read = try file.read(into: rest)
                    if read == 0 { break }
                    count += read
                }
                return count
            }
        } catch {
            throw CommandFailure(.inputOutput, "cannot read \(name): \(error)")
        }
    }
}

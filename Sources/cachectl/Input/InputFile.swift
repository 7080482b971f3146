internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

/// The content for a new item: a file that the user named, or standard input.
final class InputFile {
    static let standardInput: FilePath = "-"

    let name: String
    /// The length in bytes; `nil` if unknown before reading, as for a pipe or a file in `/proc`.
    private(set) var length: Int64?

    private let descriptor: Descriptor
    /// Of a file with a length, when it was opened.
    private var attributes: FileAttributes?
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
            if found.kind == .regular, found.length > 0 { (length, attributes) = (found.length, found) }
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

    private static func failure(_ name: String, _ error: FileSystemError) -> CommandFailure {
        let isNoFile = [.noSuchFileOrDirectory, .notDirectory, .isDirectory].contains(error.errno)
        return CommandFailure(isNoFile ? .notFound : ExitCode(error), "cannot read \(name): \(error.errno)")
    }

    deinit { if isOwned { LiveFileSystem().close(descriptor) } }

    /// Checks that what was read is what the file held at one moment.
    func requireUnchanged() throws {
        guard let attributes else { return }
        if try LiveFileSystem().attributes(of: descriptor).isWritten(since: attributes) {
            throw CacheError.fileChanged(name)
        }
    }

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

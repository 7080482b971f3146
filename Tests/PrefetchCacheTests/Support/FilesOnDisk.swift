import Foundation
import GRDB
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What tests look at and do behind the cache's back.
extension URL {
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    func remove() throws { try FileManager.default.removeItem(at: self) }

    func move(to other: URL) throws { try FileManager.default.moveItem(at: self, to: other) }

    /// Makes a folder, and those above it.
    func makeFolder() throws {
        try FileManager.default.createDirectory(at: self, withIntermediateDirectories: true)
    }

    func makeLink(to target: URL) throws {
        try FileManager.default.createSymbolicLink(at: self, withDestinationURL: target)
    }

    /// Writes a file, and makes the folders above it.
    func place(_ content: Data) throws {
        try deletingLastPathComponent().makeFolder()
        try content.write(to: self)
    }

    func place(_ text: String) throws { try place(Data(text.utf8)) }

    /// Writes into the file that is there: the inode stays.
    func overwrite(_ bytes: Data, at offset: Int = 0) throws {
        let file = try FileHandle(forUpdating: self)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: bytes)
        try file.close()
    }

    /// Changes a byte of the file, the last ones counted from -1.
    func flipByte(at offset: Int) throws {
        var content = try Data(contentsOf: self)
        content[offset < 0 ? content.count + offset : offset] ^= 1
        try content.write(to: self)
    }

    /// - Parameter seconds: Since 1970.
    func setModified(_ seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: path)
    }

    /// - Parameter nanoseconds: Since 1970.
    func setAccessed(_ nanoseconds: Int64) throws {
        let live = LiveFileSystem()
        try live.withFile(FilePath(path), in: .workingDirectory, .readWithoutAccessTime) {
            file throws(FileSystemError) in try live.setTimes(accessed: nanoseconds, modified: nil, of: file)
        }
    }

    var attributes: FileAttributes? {
        get throws { try LiveFileSystem().attributes(of: FilePath(path), in: .workingDirectory) }
    }

    var inode: UInt64? { get throws { try attributes?.identity.inode } }

    /// Whether the file, or the folder, bears the mark that backups heed.
    var backupPolicy: BackupPolicy {
        get throws {
            try LiveFileSystem().withFile(
                FilePath(path), in: .workingDirectory, .readFollowingLinksWithoutWaiting
            ) { file throws(FileSystemError) in try BackupMark(fileSystem: LiveFileSystem()).policy(of: file)
            }
        }
    }

    func set(_ policy: BackupPolicy) throws {
        try LiveFileSystem().withFile(
            FilePath(path), in: .workingDirectory, .readFollowingLinksWithoutWaiting
        ) { file throws(FileSystemError) in
            try BackupMark(fileSystem: LiveFileSystem()).set(policy, on: file)
        }
    }

    /// Changes a database.
    func execute(sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// The integer that a query of a database gives.
    func integer(sql: String) throws -> Int64? {
        let queue = try DatabaseQueue(path: path)
        defer { #expect(throws: Never.self) { try queue.close() } }
        return try queue.read { try Int64.fetchOne($0, sql: sql) }
    }
}

/// Does what may fail.
func attempt(_ body: () throws -> Void) { do { try body() } catch { #expect("\(error)" != "") } }

/// Expects that a destination refuses what is done.
func expectDestinationError<Result>(
    _ errno: Errno? = nil, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) {
    let error = #expect(throws: CacheError.self, sourceLocation: sourceLocation) { _ = try body() }
    guard case .destination(_, let cause)? = error, errno == nil || cause.errno == errno else {
        Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
        return
    }
}

/// Expects an error whose description names something.
func expectError<Result>(
    naming text: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) {
    let error = #expect(throws: (any Error).self, sourceLocation: sourceLocation) { _ = try body() }
    #expect(error.map { "\($0)".contains(text) } == true, sourceLocation: sourceLocation)
}

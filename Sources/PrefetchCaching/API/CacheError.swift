public import Foundation
public import PrefetchFileSystem
public import PrefetchItemFormat
public import PrefetchStorageAreas
internal import SystemPackage

/// Why an operation of the cache failed.
///
/// A missing, purged or damaged item is not an error but a miss, and a refusal to store is a value, see
/// ``StoreOutcome``.
public enum CacheError: Error, Hashable, Sendable {
    /// The locations of the app's areas could not be determined.
    case areas(StorageAreasError)
    /// The request does not fit the item, such as a range past its end, or a limit of the format is exceeded.
    case item(ItemFormatError)
    /// The source of a store is not a regular file of this machine.
    case notARegularFile(String)
    /// The file to be stored was written to or replaced while it was being stored. Nothing was stored, and
    /// the file is where it was.
    case fileChanged(String)
    /// A file in a folder that was to become a bundle has a name that no file of a bundle may have. Nothing was stored.
    case unsuitableName(String, FolderPathError)
    /// A file system call failed.
    case fileSystem(FileSystemError)
    /// The device is locked, and protects the files of the cache, see ``CacheConfiguration/fileProtection``. Nothing is
    /// lost or changed: call again when it is unlocked. On macOS, also what the sandbox denies.
    case locked(FileSystemError)
    /// A folder of the cache belongs to another user, or others may write to it.
    case notOurs(String)
    /// The destination of an item cannot be written to. Nothing is lost: the item stays cached or, when the destination
    /// failed late, staged for the next open.
    case destination(String, FileSystemError)
    /// The destination of an item is in an area that is unavailable: ``Area/iCloudDrive`` where the user is
    /// not signed in. Nothing is lost: the item stays cached, and a file that is there already stays.
    case destinationUnavailable(Area)
    /// The volume has too little room for what the user asked for, in bytes, even if cached items were
    /// evicted: `available` is the most that there could be. Nothing is lost.
    case insufficientSpace(needed: Int64, available: Int64)
    /// The item has no destination: it can be read, and cannot be opened.
    case noDestination(ItemKey)
    /// The item was opened before, and the user has since moved or deleted its file.
    case movedOrDeleted(key: ItemKey, String)
    /// Another process opened or forgot the item at the same time, although it should have waited: a lock file was
    /// removed. Nothing is lost.
    case overtaken(ItemKey)
    /// The content that a reader waits for is not being stored, see ``PrefetchCache/reader(for:patience:)``. What was read
    /// so far is right.
    case notArriving(ItemKey)
    /// What a reader has read is of another version than what there is now.
    case otherVersion(ItemKey)
    /// The catalog or the ledger failed, with the message of SQLite.
    case database(name: String, message: String)
    /// Another process holds a lock that the call needs: of the catalog, the ledger, the configuration, or of an item.
    /// The call waited for 5 seconds. Nothing is lost or changed; content that was being stored has to be stored again.
    case busy(String, by: LockHolder?)
    /// The catalog's own rows do not fit into the budget in addition to what cannot be evicted. The changes stay in
    /// memory.
    case catalogOverBudget
    /// The path is too long for SQLite: with all links resolved it has `bytes` bytes, and at most `limit` are allowed.
    /// Nothing was created.
    case pathTooLong(String, bytes: Int, limit: Int)
    /// The ledger was written by a newer version of this package and was left alone.
    case newerLedger(version: Int)
    /// No further item can be pinned: a pin holds a file open, and the rest of the `openFiles` that this process may
    /// have open is reserved for everything else.
    case tooManyPins(openFiles: Int)
    /// `configuration.json` cannot be used, and why.
    case configuration(String)
    /// The task that opened an item was cancelled before the item was promoted, which stays cached; or the task of any
    /// call was cancelled while the cache was suspended, and nothing was done.
    case cancelled
    /// The writer was used after it had ended.
    case writerIsFinished
    /// The writer was ended by ``PrefetchCache/suspend(isolation:)``. A writer that keeps its partial has kept it.
    case suspended
    /// The cache was closed.
    case closed
}

extension CacheError {
    static func notOurs(_ path: FilePath) -> CacheError { .notOurs(path.string) }

    static func destination(_ path: FilePath, _ error: FileSystemError) -> CacheError {
        .destination(path.string, error)
    }

    static func movedOrDeleted(key: ItemKey, _ path: FilePath) -> CacheError {
        .movedOrDeleted(key: key, path.string)
    }

    /// The same error, or ``locked(_:)`` if that is what it means.
    var reported: CacheError {
        switch self {
        case .fileSystem(let error) where error.isOfLockedDevice: .locked(error)
        case .item(.fileSystem(let error)) where error.isOfLockedDevice: .locked(error)
        case .destination(_, let error) where error.isOfLockedDevice: .locked(error)
        default: self
        }
    }

    /// Whether another process holds a lock.
    var isBusy: Bool {
        if case .busy = self { true } else { false }
    }

    /// Whether space ran out: on the volume (`ENOSPC`), in a quota (`EDQUOT`) or in the budget.
    var isOutOfSpace: Bool {
        switch self {
        case .fileSystem(let error), .destination(_, let error): error.isOutOfSpace
        case .catalogOverBudget: true
        default: false
        }
    }

    /// Whether nothing can be written: space ran out, or the volume is read-only.
    var isOfUnwritableVolume: Bool {
        if case .fileSystem(let error) = self, error.isReadOnlyVolume { return true }
        return isOutOfSpace
    }
}

extension CacheError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .areas(let error): error.description
        case .item(let error): error.description
        case .notARegularFile(let name):
            "\(name) is not a regular file; store its content through a writer instead"
        case .unsuitableName(let name, let error):
            "\(name) cannot be part of a bundle: \(error); rename it, or move it elsewhere"
        case .fileChanged(let name):
            "\(name) was written to or replaced while it was being stored; try again once it is complete"
        case .fileSystem(let error): error.description
        case .locked(let error):
            "the device is locked, or denies access to the files of the cache (\(error)); nothing is lost: "
                + "try again once it is unlocked"
        case .notOurs(let path):
            "\(path) belongs to another user or can be written by others; "
                + "give the cache a folder of its own, or repair owner and permissions"
        case .destination(let path, let error):
            "cannot write to \(path): \(error); nothing is lost: open the item again once that is fixed"
        case .destinationUnavailable(let area):
            "\(area.title) is unavailable: is the user signed in? Nothing is lost; "
                + "open the item again when it is available"
        case .insufficientSpace(let needed, let available):
            "\(needed) bytes are needed, and \(available) bytes are available; make room on the volume"
        case .noDestination(let key):
            "'\(key)' has no destination: read it, or store it again with one"
        case .movedOrDeleted(let key, let path):
            "'\(key)' was opened before, and its file \(path) has since been moved or deleted"
        case .overtaken(let key):
            "another process opened or forgot '\(key)' at the same time; open it again"
        case .notArriving(let key): "nobody is storing '\(key)'; download it again"
        case .otherVersion(let key):
            "'\(key)' was replaced by another version while it was read; read it from the beginning"
        case .database(let name, let message): "the \(name) failed: \(message)"
        case .busy(let what, let holder):
            "the \(what) is locked by \(holder.map { "process \($0.processID) (\($0.name))" } ?? "another process"), "
                + Self.advice(on: holder)
        case .catalogOverBudget:
            "the budget has no room for the catalog in addition to what may not be evicted; "
                + "raise the budget, or release pins"
        case .pathTooLong(let path, let bytes, let limit):
            "the path \(path) is too long: with all links resolved it has \(bytes) bytes, and SQLite opens at most "
                + "\(limit); give the cache a container with a shorter path"
        case .newerLedger(let version):
            "the ledger has version \(version), which is newer than \(RecordSchema.version); update the software"
        case .tooManyPins(let openFiles):
            "no further item can be pinned: a pin holds a file open, and this process may have \(openFiles) open; "
                + "release pins, or raise the limit (ulimit -n)"
        case .configuration(let message): message
        case .cancelled:
            "the call was cancelled before it changed anything; an item to be opened is still cached"
        case .writerIsFinished:
            "the writer has ended: it was committed, cancelled, kept or refused, or it failed"
        case .suspended: "the writer was ended by a suspension of the cache; begin to store the item again"
        case .closed: "the cache is closed"
        }
    }

    private static func advice(on holder: LockHolder?) -> String {
        switch holder?.isStopped {
        case true?: "which is stopped; resume or terminate it, then try again"
        case false?: "which is running; wait, or terminate it if it hangs, then try again"
        case nil: "which has not released it and may be stopped; resume or terminate it, then try again"
        }
    }
}

/// Runs a body that touches files, and wraps its errors.
@inline(__always)
func onFiles<Result>(_ body: () throws(FileSystemError) -> Result) throws(CacheError) -> Result {
    do {
        return try body()
    } catch {
        throw .fileSystem(error)
    }
}

/// Makes calls of the file system, and wraps their error.
@inline(__always)
func onFiles<Result>(_ calls: @autoclosure () throws(FileSystemError) -> Result) throws(CacheError) -> Result
{
    try onFiles { () throws(FileSystemError) in try calls() }
}

/// Runs a body that reads or writes an item, and wraps its errors.
@inline(__always)
func onItem<Result>(_ body: () throws(ItemFormatError) -> Result) throws(CacheError) -> Result {
    do {
        return try body()
    } catch {
        if case .fileSystem(let error) = error { throw .fileSystem(error) }
        throw .item(error)
    }
}

@inline(__always)
func onItem<Result>(_ calls: @autoclosure () throws(ItemFormatError) -> Result) throws(CacheError) -> Result {
    try onItem { () throws(ItemFormatError) in try calls() }
}

// `localizedDescription` is what many apps log: without these conformances it would be "The operation couldn't be
// completed" and a number. The texts are for developers and in English; an app shows its users its own.

extension CacheError: LocalizedError { public var errorDescription: String? { description } }
extension FileSystemError: LocalizedError { public var errorDescription: String? { description } }
extension StorageAreasError: LocalizedError { public var errorDescription: String? { description } }
extension ItemFormatError: LocalizedError { public var errorDescription: String? { description } }
extension ItemKeyError: LocalizedError { public var errorDescription: String? { description } }
extension FolderPathError: LocalizedError { public var errorDescription: String? { description } }
extension FileNameError: LocalizedError { public var errorDescription: String? { description } }

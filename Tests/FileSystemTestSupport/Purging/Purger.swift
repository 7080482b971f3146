package import Foundation

/// Takes parts of a container's Caches and tmp away, as the system does: by name, without asking who uses them, with
/// plain system calls past the product's own.
package struct Purger {
    package struct Failure: Error, CustomStringConvertible {
        let call: String
        let path: String
        let code: CInt

        package var description: String { "\(call) \(path): errno \(code)" }
    }

    private static let sideFiles = ["-journal", "-wal", "-shm"].map { "catalog.sqlite\($0)" }

    private let area: URL
    private let root: URL
    private let temporary: URL
    private var generator: SeededGenerator

    /// - Parameter container: That of the app.
    package init(of container: URL, seed: UInt64) {
        area = container.appending(path: "Library/Caches", directoryHint: .isDirectory)
        root = area.appending(path: "PrefetchCache", directoryHint: .isDirectory)
        temporary = container.appending(path: "tmp", directoryHint: .isDirectory)
        generator = SeededGenerator(seed: seed)
    }

    /// Takes a part at random.
    /// - Returns: Which.
    @discardableResult
    package mutating func purge() throws -> PurgedPart {
        let drawn = PurgedPart.allCases.flatMap { Array(repeating: $0, count: $0.weight) }
            .randomElement(using: &generator)
        let part = drawn ?? .item
        try purge(part)
        return part
    }

    /// Takes a part, of those of its kind one at random. What is not there is no failure.
    package mutating func purge(_ part: PurgedPart) throws {
        switch part {
        case .item: try anyItem().map(remove)
        case .emptiedItem: try anyItem().map(empty)
        case .itemFolder: try any(of: "items").map(remove)
        case .items: try remove(root.appending(path: "items"))
        case .partial: try anyIncoming(isLock: false).map(remove)
        case .emptiedPartial: try anyIncoming(isLock: false).map(empty)
        case .lock: try anyIncoming(isLock: true).map(remove)
        case .emptiedLock: try anyIncoming(isLock: true).map(empty)
        case .allLocks: try incoming(isLock: true).forEach(remove)
        case .incoming: try remove(root.appending(path: "incoming"))
        case .catalog: try remove(root.appending(path: "catalog.sqlite"))
        case .catalogWithSideFiles:
            for name in ["catalog.sqlite"] + Self.sideFiles { try remove(root.appending(path: name)) }
        case .emptiedCatalog: try empty(root.appending(path: "catalog.sqlite"))
        case .sideFiles: for name in Self.sideFiles { try remove(root.appending(path: name)) }
        case .emptiedJournal: try empty(root.appending(path: Self.sideFiles[0]))
        case .quarantine: try remove(root.appending(path: "quarantine"))
        case .tag: try remove(area.appending(path: "CACHEDIR.TAG"))
        case .temporary: try entries(of: temporary).forEach(remove)
        case .root: try remove(root)
        case .area: try entries(of: area).forEach(remove)
        }
    }

    private mutating func anyItem() throws -> URL? {
        try any(of: "items").flatMap { try entries(of: $0).randomElement(using: &generator) }
    }

    private mutating func any(of folder: String) throws -> URL? {
        try entries(of: root.appending(path: folder)).randomElement(using: &generator)
    }

    private mutating func anyIncoming(isLock: Bool) throws -> URL? {
        try incoming(isLock: isLock).randomElement(using: &generator)
    }

    private func incoming(isLock: Bool) throws -> [URL] {
        try entries(of: root.appending(path: "incoming")).filter { ($0.pathExtension == "lock") == isLock }
    }

    /// In the order of their names, so that one seed means one choice.
    private func entries(of folder: URL) throws -> [URL] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                .map { folder.appending(path: $0) }
        } catch CocoaError.fileReadNoSuchFile {
            return []
        }
    }

    /// Removes a file, or a folder with what is in it; what is put there meanwhile may stay, as with the system.
    private func remove(_ file: URL) throws {
        if unlink(file.path) == 0 { return }
        switch errno {
        case ENOENT: return
        // The second is what Darwin says of a folder.
        case EISDIR, EPERM: break
        default: throw Failure(call: "unlink", path: file.path, code: errno)
        }
        try entries(of: file).forEach(remove)
        guard rmdir(file.path) != 0, ![ENOENT, ENOTEMPTY].contains(errno) else { return }
        throw Failure(call: "rmdir", path: file.path, code: errno)
    }

    private func empty(_ file: URL) throws {
        guard truncate(file.path, 0) != 0, errno != ENOENT else { return }
        throw Failure(call: "truncate", path: file.path, code: errno)
    }
}

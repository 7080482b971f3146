import CFloor
import Foundation

/// The system calls that a store needs and no books kept, in the folders of a cache: what of a store
/// grows because folders do, whoever stores.
///
/// The cache knows nothing of these files. They get names such as its own, among which a new name has
/// to be found a place.
final class Floor {
    private let context: OpaquePointer
    private let items: CInt
    private let incoming: CInt

    init(in container: URL, largest: Int) throws {
        guard let context = floor_context_create(largest) else { throw POSIXError(.ENOMEM) }
        self.context = context
        let root = container.appending(path: "Library/Caches/PrefetchCache")
        items = open(
            root.appending(path: "items").path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        incoming = open(
            root.appending(path: "incoming").path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard items >= 0, incoming >= 0 else { throw POSIXError(.ENOENT) }
        // A small cache may not have all of them yet. One that cannot be made is missed below.
        for byte in 0..<256 { _ = mkdirat(items, String(format: "%02x", byte), 0o700) }
    }

    deinit {
        close(items)
        close(incoming)
        floor_context_destroy(context)
    }

    func store(_ content: [UInt8], as name: Name) throws {
        let problem = floor_store(
            context, incoming, name.temporary, items, name.final, content, content.count)
        guard problem == 0 else { throw POSIXError(POSIXErrorCode(rawValue: problem) ?? .EIO) }
    }

    /// Made in advance: the floor makes none.
    struct Name {
        let temporary: String
        let final: String

        init() {
            let hash = String(
                format: "%016lx%016lx", UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
            temporary = hash
            final = "\(hash.prefix(2))/\(hash)"
        }
    }
}

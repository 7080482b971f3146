import Foundation

/// A database that items are kept in, by their keys.
protocol ItemDatabase: AnyObject {
    static var name: String { get }
    static var setup: String { get }

    init(in directory: URL, for workload: Workload) throws

    func put(_ index: Int, _ content: [UInt8]) throws

    /// - Returns: The content, until the next call.
    func read(_ index: Int) throws -> UnsafeRawBufferPointer

    /// In one transaction.
    func delete(_ items: Range<Int>) throws
}

/// A database that is used as a cache.
final class DatabaseContender<Items: ItemDatabase>: Contender {
    let name = Items.name
    let setup = Items.setup
    private var state: (items: Items, promoted: PromotedFiles)?

    func prepare(in directory: URL, for workload: Workload) throws {
        state = (
            try Items(in: directory, for: workload), try PromotedFiles(in: directory, for: workload)
        )
    }

    func store(_ index: Int, _ content: [UInt8]) throws {
        try prepared().items.put(index, content)
    }

    func read(_ index: Int) throws -> Int {
        try prepared().items.read(index).count
    }

    func promote(_ index: Int) throws {
        let (items, promoted) = try prepared()
        try promoted.publish(index, items.read(index))
        try items.delete(index..<index + 1)
    }

    func evict(_ items: Range<Int>) throws {
        try prepared().items.delete(items)
    }

    func promotedFile(_ index: Int) -> URL {
        guard let state else { preconditionFailure("prepare(in:for:) comes first") }
        return state.promoted.url(index)
    }

    func cleanup() {
        state = nil
    }

    private func prepared() throws -> (items: Items, promoted: PromotedFiles) {
        guard let state else { throw ContenderError.notPrepared }
        return state
    }
}

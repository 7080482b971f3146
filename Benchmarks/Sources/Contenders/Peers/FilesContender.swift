import CFloor
public import Foundation

/// What many apps do instead of using a cache: one plain file per item.
public final class FilesContender: Contender {
    public let name: String
    public let setup: String
    private let isAtomic: Bool
    private var state: State?

    /// - Parameter isAtomic: Lets Foundation write atomically, in which it flushes each file as nobody else
    ///   has to; else opens, writes and renames.
    public init(isAtomic: Bool) {
        self.isAtomic = isAtomic
        name = isAtomic ? "files, .atomic" : "files"
        let store =
            isAtomic
            ? "Data.write(options: .atomic), which flushes every file"
            : "open, write, close and rename, nothing flushed"
        setup = """
            one file per item, uncompressed, in one folder; \(store); Data(contentsOf:); \
            promote: fsync, rename, fsync of the folder; evict: unlink of each
            """
    }

    private final class State {
        let items: CInt
        let names: [String]
        let urls: [URL]
        let incoming: CInt
        let promoted: PromotedFiles

        init(_ directory: URL, _ workload: Workload) throws {
            incoming = try PromotedFiles.makeFolder("incoming", in: directory)
            items = try PromotedFiles.makeFolder("items", in: directory)
            names = workload.contents.indices.map { index in
                Workload.key(index).replacing("/", with: "%2F")
            }
            urls = names.map { directory.appending(path: "items").appending(path: $0) }
            promoted = try PromotedFiles(in: directory, for: workload)
        }

        deinit {
            close(items)
            close(incoming)
        }
    }

    public func prepare(in directory: URL, for workload: Workload) throws {
        state = try State(directory, workload)
    }

    public func store(_ index: Int, _ content: [UInt8]) throws {
        let state = try prepared()
        guard !isAtomic else { return try Data(content).write(to: state.urls[index], options: .atomic) }
        let errno = floor_store_identity(
            nil, state.incoming, "item", state.items, state.names[index], content, content.count)
        if errno != 0 { throw FloorError(errno: errno) }
    }

    public func read(_ index: Int) throws -> Int {
        try Data(contentsOf: prepared().urls[index]).count
    }

    public func promote(_ index: Int) throws {
        let state = try prepared()
        try state.promoted.publish(index, fileNamed: state.names[index], of: state.items)
    }

    public func evict(_ items: Range<Int>) throws {
        let state = try prepared()
        for index in items {
            guard unlinkat(state.items, state.names[index], 0) == 0 else { throw FloorError(errno: errno) }
        }
    }

    public func promotedFile(_ index: Int) -> URL {
        guard let state else { preconditionFailure("prepare(in:for:) comes first") }
        return state.promoted.url(index)
    }

    public func cleanup() {
        state = nil
    }

    private func prepared() throws -> State {
        guard let state else { throw ContenderError.notPrepared }
        return state
    }
}

import CFloor
public import Foundation

/// The floor: C functions that make exactly the system calls and liblz4 calls that a job needs.
///
/// Text is stored as one LZ4 frame, what does not compress as it is. The names of all items are made
/// in advance, and so are the 256 folders they are spread over; nothing is remembered about an item.
public final class FloorContender: Contender {
    public let name = "floor"
    public let setup = """
        C: the system calls and liblz4 calls that a job needs, and no more; one file per item, in 256 folders
        """
    private var state: State?

    public init() {}

    public func prepare(in directory: URL, for workload: Workload) throws {
        state = try State(directory, workload)
    }

    public func store(_ index: Int, _ content: [UInt8]) throws {
        let state = try prepared()
        let store = state.isIdentity ? floor_store_identity : floor_store
        try check(
            store(
                state.context, state.incoming, state.temporaryNames[index], state.items,
                state.itemNames[index], content, content.count))
    }

    public func read(_ index: Int) throws -> Int {
        let state = try prepared()
        let read = state.isIdentity ? floor_read_identity : floor_read
        var length = 0
        try check(
            read(
                state.context, state.items, state.itemNames[index], state.buffer.baseAddress,
                state.buffer.count, &length))
        return length
    }

    public func promote(_ index: Int) throws {
        let state = try prepared()
        let (item, final) = (state.itemNames[index], state.finalNames[index])
        try check(
            state.isIdentity
                ? floor_publish_file(state.items, item, state.documents, final)
                : floor_promote(
                    state.context, state.items, item, state.staging, state.temporaryNames[index],
                    state.documents, final))
    }

    public func evict(_ items: Range<Int>) throws {
        let state = try prepared()
        for index in items { try check(floor_unlink(state.items, state.itemNames[index])) }
    }

    public func promotedFile(_ index: Int) -> URL {
        guard let state else { preconditionFailure("prepare(in:for:) comes first") }
        return state.directory.appending(path: "documents/\(state.finalNames[index])")
    }

    public func cleanup() {
        state = nil
    }

    private func prepared() throws -> State {
        guard let state else { throw FloorError(errno: EBADF) }
        return state
    }

    private func check(_ errno: CInt) throws {
        if errno != 0 { throw FloorError(errno: errno) }
    }
}

/// A call of the floor that failed.
struct FloorError: Error, CustomStringConvertible {
    let errno: CInt

    var description: String { "floor: \(String(cString: strerror(errno)))" }
}

extension FloorContender {
    /// What one workload needs: open folders, names and buffers.
    private final class State {
        let directory: URL
        let isIdentity: Bool
        let context: OpaquePointer
        let buffer: UnsafeMutableRawBufferPointer
        let items: CInt
        let incoming: CInt
        let staging: CInt
        let documents: CInt
        let itemNames: [String]
        let temporaryNames: [String]
        let finalNames: [String]

        init(_ directory: URL, _ workload: Workload) throws {
            guard let context = floor_context_create(workload.size) else { throw FloorError(errno: ENOMEM) }
            self.directory = directory
            self.context = context
            isIdentity = workload.material == .incompressible
            buffer = .allocate(byteCount: floor_read_capacity(context), alignment: 64)

            var random = SplitMix64(seed: UInt64(workload.size))
            let hashes = workload.contents.map { _ in
                Self.hexadecimal(random.next()) + Self.hexadecimal(random.next())
            }
            itemNames = hashes.map { "\($0.prefix(2))/\($0)" }
            temporaryNames = hashes
            finalNames = hashes.indices.map(Workload.finalName)

            items = try Self.makeFolder("items", in: directory)
            incoming = try Self.makeFolder("incoming", in: directory)
            staging = try Self.makeFolder("staging", in: directory)
            documents = try Self.makeFolder("documents", in: directory)
            for byte in UInt8.min...UInt8.max {
                guard mkdirat(items, Self.hexadecimal(byte), 0o700) == 0 else {
                    throw FloorError(errno: errno)
                }
            }
        }

        deinit {
            for folder in [items, incoming, staging, documents] { close(folder) }
            buffer.deallocate()
            floor_context_destroy(context)
        }

        private static func makeFolder(_ name: String, in directory: URL) throws -> CInt {
            let path = directory.appending(path: name).path(percentEncoded: false)
            guard mkdir(path, 0o700) == 0 else { throw FloorError(errno: errno) }
            let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { throw FloorError(errno: errno) }
            return folder
        }

        private static func hexadecimal<Value: FixedWidthInteger>(_ value: Value) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: Value.bitWidth / 4 - digits.count) + digits
        }
    }
}

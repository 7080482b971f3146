import CFloor
public import Foundation
import Synchronization

/// The floor: C functions that make exactly the system calls and liblz4 calls that a job needs.
///
/// Text is stored as one LZ4 frame, what does not compress as it is. The names of all items are made
/// in advance, and so are the 256 folders they are spread over; nothing is remembered about an item.
public final class FloorContender: ItemContender {
    private let workload: Workload
    private let isIdentity: Bool
    private let context: OpaquePointer
    private let buffer: UnsafeMutableRawBufferPointer
    private let items: OpenFolder
    private let incoming: OpenFolder
    private let promoted: PromotedFiles?
    private let itemNames: [String]
    private let temporaryNames: [String]

    /// - Parameter isAmongOthers: Whether the folder is that of a cache, whose names are of this kind: then nothing is promoted,
    ///   and the names are others in each run.
    public init(in directory: URL, for workload: Workload, isAmongOthers: Bool = false) throws {
        guard let context = floor_context_create(workload.size) else { throw FloorError(errno: ENOMEM) }
        self.context = context
        self.workload = workload
        isIdentity = workload.material == .incompressible
        buffer = .allocate(byteCount: max(workload.size, 64 << 10), alignment: 64)
        var random = SplitMix64(seed: isAmongOthers ? .random(in: .min ... .max) : UInt64(workload.size))
        temporaryNames = workload.contents.map { _ in
            Self.hexadecimal(random.next()) + Self.hexadecimal(random.next())
        }
        itemNames = temporaryNames.map { "\($0.prefix(2))/\($0)" }
        items = try OpenFolder("items", in: directory)
        incoming = try OpenFolder("incoming", in: directory)
        promoted = isAmongOthers ? nil : try PromotedFiles(in: directory, for: workload)
        for byte in UInt8.min...UInt8.max {
            // A small cache may not have all of them yet.
            guard mkdirat(items.descriptor, Self.hexadecimal(byte), 0o700) == 0 || errno == EEXIST else {
                throw FloorError(errno: errno)
            }
        }
    }

    deinit {
        buffer.deallocate()
        floor_context_destroy(context)
    }

    private static func hexadecimal<Value: FixedWidthInteger>(_ value: Value) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: Value.bitWidth / 4 - digits.count) + digits
    }

    public func store(_ index: Int) throws {
        let content = workload.contents[index]
        let store = isIdentity ? floor_store_identity : floor_store
        try check(
            store(
                context, incoming.descriptor, temporaryNames[index], items.descriptor, itemNames[index],
                content, content.count))
    }

    public func read(_ index: Int) throws -> Int {
        let read = isIdentity ? floor_read_identity : floor_read
        var length = 0
        try check(
            read(
                context, items.descriptor, itemNames[index], buffer.baseAddress, buffer.count, &length))
        return length
    }

    public func promote(_ index: Int) throws {
        guard let promoted else { throw ContenderError.missing }
        guard isIdentity else {
            let length = try read(index)
            try promoted.publish(index, UnsafeRawBufferPointer(rebasing: buffer[..<length]))
            return try evict(index..<index + 1)
        }
        try check(
            floor_publish_file(
                items.descriptor, itemNames[index], promoted.documents.descriptor, promoted.names[index]))
    }

    public func evict(_ items: Range<Int>) throws {
        for index in items where unlinkat(self.items.descriptor, itemNames[index], 0) != 0 {
            throw FloorError(errno: errno)
        }
    }

    public func promotedFile(_ index: Int) -> URL {
        promoted?.url(index) ?? items.url
    }

    /// Does a job for all items, without a task.
    func complete(_ job: Job) throws {
        let all = workload.contents.indices
        switch job {
        case .store: for index in all { try store(index) }
        case .read:
            for index in all where try read(index) != workload.size {
                throw ContenderError.wrongContent(index)
            }
        case .promote: for index in all { try promote(index) }
        case .evict: try evict(all)
        }
    }
}

/// As many floors as there are tasks, each on a thread and in folders of its own: they share nothing.
final class FloorThreads: Contender {
    private let shares: [Share]

    /// A floor and its items, for one thread at a time.
    private final class Share: Sendable {
        private let floor: Mutex<FloorContender>

        init(_ workload: Workload, in directory: URL) throws {
            floor = try Mutex(FloorContender(in: directory, for: workload))
        }

        /// The lock is taken once for all items, and nobody waits for it.
        func run(_ job: Job) async throws {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { [self] in
                    continuation.resume(with: Result { try floor.withLock { try $0.complete(job) } })
                }
            }
        }
    }

    init(_ tasks: Int, in directory: URL, for workload: Workload) throws {
        shares = try workload.shares(tasks).enumerated().map { number, items in
            try Share(workload.part(items), in: OpenFolder("\(number)", in: directory).url)
        }
    }

    func run(_ job: Job, for items: Range<Int>, of workload: Workload) async throws -> Duration {
        try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for share in shares { group.addTask { try await share.run(job) } }
                try await group.waitForAll()
            }
        }
    }
}

extension Entry {
    public static var floor: Entry {
        Entry(
            "floor",
            "C: the system calls and liblz4 calls that a job needs, and no more; one file per item, in 256 folders"
        ) { try FloorContender(in: $0, for: $1) }
    }

    public static func floor(of tasks: Int) -> Entry {
        Entry("floor", "the floor of one task on as many threads, each in folders of its own") {
            try FloorThreads(tasks, in: $0, for: $1)
        }
    }
}

/// A folder and its descriptor, which calls of the floor are given.
final class OpenFolder {
    let url: URL
    let descriptor: CInt

    /// Makes the folder unless it is there.
    init(_ name: String, in directory: URL) throws {
        url = directory.appending(path: name)
        let path = url.path(percentEncoded: false)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FloorError(errno: errno) }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FloorError(errno: errno) }
    }

    deinit { close(descriptor) }
}

/// Where items go that are promoted, with the floor's own calls: the part of a promotion that no peer does by itself.
final class PromotedFiles {
    let staging: OpenFolder
    let documents: OpenFolder
    let names: [String]

    init(in directory: URL, for workload: Workload) throws {
        names = (0..<workload.count).map(Workload.finalName)
        staging = try OpenFolder("staging", in: directory)
        documents = try OpenFolder("documents", in: directory)
    }

    /// Makes content a durable file.
    func publish(_ index: Int, _ content: UnsafeRawBufferPointer) throws {
        let name = names[index]
        try check(
            floor_publish(
                staging.descriptor, name, documents.descriptor, name, content.baseAddress, content.count))
    }

    func url(_ index: Int) -> URL { documents.url.appending(path: names[index]) }
}

/// A call of the floor that failed.
struct FloorError: Error, CustomStringConvertible {
    let errno: CInt

    var description: String { String(cString: strerror(errno)) }
}

func check(_ errno: CInt) throws {
    if errno != 0 { throw FloorError(errno: errno) }
}

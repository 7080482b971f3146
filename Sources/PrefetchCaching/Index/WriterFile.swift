internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The most of the budget that a process may hold, as recorded in its lock file.
///
/// The catalog has the exact number, but can be lost. The lock file, which shows whether a process lives,
/// always has at least as much: it is written before a grant is committed, and after one was released.
struct WriterBound {
    static let length: Int64 = 16
    /// Retries of a read that overlaps a write.
    private static let attempts = 1000

    let bytes: Int64

    init(_ bytes: Int64) {
        self.bytes = bytes
    }

    /// Reads the bound while its process may be writing it.
    init(of file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        for _ in 0..<Self.attempts {
            var buffer = [UInt8](repeating: 0, count: Int(Self.length))
            _ = try buffer.withMutableBytes { bytes throws(FileSystemError) in
                try fileSystem.readAll(file, into: bytes, at: 0)
            }
            let words = buffer.withUnsafeBytes {
                ($0.loadUnaligned(as: Int64.self), $0.loadUnaligned(fromByteOffset: 8, as: Int64.self))
            }
            // The file is empty, or was emptied before its list went on.
            if words == (0, 0) {
                bytes = 0
                return
            }
            guard words.0 == ~words.1 else { continue }
            bytes = max(0, Int64(littleEndian: words.0))
            return
        }
        throw FileSystemError("read", errno: .ioError)
    }

    /// The bound and its complement, which lets a reader detect a torn read.
    var image: [UInt8] {
        let word = bytes.littleEndian
        return Self.bytes(word) + Self.bytes(~word)
    }

    private static func bytes(_ word: Int64) -> [UInt8] {
        withUnsafeBytes(of: word) { [UInt8]($0) }
    }
}

/// The items that a process is about to place or to remove, or has placed or removed without the catalog having recorded
/// it: all that has to be looked at when the process has died.
///
/// They are listed in the process's lock file, after the ``WriterBound``. A hash is written before the file of its item is
/// touched, and its place is given to another only after the catalog has recorded what became of it. A file that cannot
/// list everything has no list. Nothing is flushed: after a crash of the machine the catalog is rebuilt.
struct WriteIntents: Sendable {
    /// A place in the list.
    typealias Place = Int

    /// What precedes the hashes, and follows the bound: 8 bytes, and the version of the format.
    static let header = [UInt8]("PfIntent".utf8) + [1, 0, 0, 0, 0, 0, 0, 0]
    static let headerOffset = WriterBound.length
    private static let start = headerOffset + Int64(header.count)
    private static let hashBytes: Int64 = 16
    /// A list that was longer than this is cut when nothing is left in it: 4 KiB.
    private static let longestKept = 256
    /// No list of ours is longer, in bytes: 4 million items.
    private static let longestRead: Int64 = 64 << 20

    private var hashes: [KeyHash] = []
    private var free: [Place] = []

    var isEmpty: Bool { free.count == hashes.count }

    /// Whether nothing is listed in a file that is not short.
    var isOverlong: Bool { isEmpty && hashes.count > Self.longestKept }

    /// The length of a lock file with all places.
    var fileLength: Int64 { Self.start + Int64(hashes.count) * Self.hashBytes }

    mutating func add(_ hash: KeyHash) -> Place {
        guard let place = free.popLast() else {
            hashes.append(hash)
            return hashes.count - 1
        }
        hashes[place] = hash
        return place
    }

    /// The first of them is given to another first, so that the list keeps the order of time as far as possible.
    mutating func end(_ places: [Place]) { free += places.reversed() }

    func hash(at place: Place) -> KeyHash { hashes[place] }

    /// The parts of the file to write for some places, neighbours together.
    func parts(for places: some Sequence<Place>) -> [(bytes: [UInt8], offset: Int64)] {
        var parts: [(bytes: [UInt8], offset: Int64)] = []
        var next: Place?
        for place in places.sorted() {
            if place == next {
                parts[parts.count - 1].bytes += hashes[place].bytes
            } else {
                parts.append((hashes[place].bytes, Self.start + Int64(place) * Self.hashBytes))
            }
            next = place + 1
        }
        return parts
    }

    var allParts: [(bytes: [UInt8], offset: Int64)] { parts(for: hashes.indices) }

    /// Whether a lock file may have a list: earlier versions wrote none.
    static func isThere(inFileOf length: Int64) -> Bool { length >= start }

    /// Reads the list of a process that has died.
    ///
    /// - Returns: Its hashes, of which some may be outdated or there twice; `nil` when there is no list.
    static func hashes(in file: Descriptor, of fileSystem: any FileSystem) throws(FileSystemError)
        -> [KeyHash]?
    {
        let length = try fileSystem.attributes(of: file).length - headerOffset
        guard (Int64(header.count)...longestRead).contains(length), length % hashBytes == 0 else {
            return nil
        }
        var buffer = [UInt8](repeating: 0, count: Int(length))
        let count = try buffer.withMutableBytes { bytes throws(FileSystemError) in
            try fileSystem.readAll(file, into: bytes, at: headerOffset)
        }
        // Of a file that was emptied, and to whose list its process went on to add, the header is missing.
        guard count == length, Array(buffer.prefix(header.count)) == header else { return nil }
        return buffer.withUnsafeBytes { bytes in
            stride(from: header.count, to: bytes.count, by: Int(hashBytes)).map { offset in
                let high = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let low = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
                return KeyHash(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
            }
        }
    }
}

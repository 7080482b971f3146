/// A change of an honest item.
package struct Forgery: Sendable, CustomStringConvertible {
    package let description: String
    private let change: @Sendable (inout ForgedItem) -> Void

    package init(_ description: String, _ change: @escaping @Sendable (inout ForgedItem) -> Void) {
        self.description = description
        self.change = change
    }

    package func image(of content: [UInt8]) -> [UInt8] {
        var item = ForgedItem(content: content)
        change(&item)
        return item.image
    }

    package static let fields =
        [
            Forgery("another magic number") { $0.frameMagic += 1 },
            Forgery("a frame of another length") { $0.claimedFrameLength = 100 },
            Forgery("a stored length that is not the file's") { $0.claimedStoredLength = 1 },
            Forgery("version 0") { $0.version = 0 },
            Forgery("a priority that is no number") { $0.priority = .nan },
            Forgery("a priority above 1") { $0.priority = 1.5 },
            Forgery("no key") { $0.fields.removeFirst() },
            Forgery("an empty key") { $0.set(1, to: []) },
            Forgery("a key that is too long") { $0.set(1, to: Array(repeating: 97, count: 1025)) },
            Forgery("a key that is not UTF-8") { $0.set(1, to: [0xC3, 0x28]) },
            Forgery("two keys") { $0.fields.append($0.fields[0]) },
            Forgery("two chunk tables") { $0.fields.append($0.fields[2]) },
            Forgery("a field that goes beyond the footer") { $0.fields[2].claimedLength = .max },
            Forgery("a field that goes one byte beyond the footer") { $0.fields[2].claimedLength = 13 },
            Forgery("bytes behind the fields that are none") {
                $0.fields.append(.init(tag: 8, claimedLength: 0, value: [1, 2, 3]))
            },
            Forgery("reserved bytes in use") { $0.fields[0].reserved = 1 },
        ]
        + ["", ".hidden", "..", "../up", "a/b", "a\\b", "a\0b", "\u{202E}fdp.exe"].map { name in
            Forgery("the destination name \(name.debugDescription)") { $0.set(3, to: Array(name.utf8)) }
        }
        + [
            "", "/", "a/", "/a", "a//b", ".", "a/..", "../a", "a/.b/c", "a\\b", "a\0b",
            "1/2/3/4/5/6/7/8/9", String(repeating: "a", count: 256),
            Array(repeating: String(repeating: "a", count: 200), count: 3).joined(separator: "/"),
        ].map { folder in
            Forgery("the destination folder \(folder.debugDescription)") {
                $0.fields.append(.init(tag: 0x8008, value: Array(folder.utf8)))
            }
        } + [
            Forgery("two destination folders") {
                for _ in 1...2 { $0.fields.append(.init(tag: 0x8008, value: Array("a".utf8))) }
            }
        ]
        + [0, 3, 255].flatMap { value in
            [
                Forgery("encoding \(value)") { $0.encoding = value },
                Forgery("intent \(value)") { $0.intent = value },
                Forgery("backup policy \(value)") { $0.backup = value },
            ]
        }
        // Caches and temporary are areas, but no destinations.
        + [0, 3, 4, 255].map { value in Forgery("area \(value)") { $0.area = value } }
        + [
            Forgery("left out of iCloud Drive") {
                $0.area = 5
                $0.backup = 2
            }
        ]

    package static let chunkTables =
        [Int64.max, Int64.max - 1, (64 << 30) + 1, 1001, 999, 0, -1, .min].map { length in
            Forgery("content length \(length)") { $0.contentBytes = length }
        }
        + [11, 13, 0, 1].map { length in
            Forgery("a chunk table of \(length) bytes") {
                $0.set(7, to: Array(repeating: 0, count: length))
            }
        } + [
            Forgery("no chunk table") { $0.fields.removeLast() },
            Forgery("another count of chunks") { $0.chunkCount = 2 },
            Forgery("the largest count of chunks") { $0.chunkCount = .max },
            Forgery("another length of chunks") { $0.chunkLength = 1 << 21 },
            Forgery("chunks of no length") { $0.chunkLength = 0 },
            Forgery("another content checksum") { $0.contentChecksum ^= 1 },
            Forgery("chunks that are shorter than the file") { $0.setChunks([(999, 0)]) },
            Forgery("chunks that are longer than the file") { $0.setChunks([(1001, 0)]) },
            Forgery("the longest chunk") { $0.setChunks([(.max, 0)]) },
            Forgery("a chunk more than the content has") { $0.setChunks([(500, 0), (500, 0)]) },
            Forgery("chunks of the right sum and the wrong lengths") {
                $0.stored += Array(repeating: 0, count: 1 << 20)
                $0.contentBytes += 1 << 20
                $0.setChunks([(1000, 0), (1 << 20, 0)])
            },
        ] + lz4ChunkTables

    /// The length of an LZ4 chunk says nothing about its content, so that less is left to compare.
    private static let lz4ChunkTables = [
        Forgery("frames that are shorter than the file") { $0.setChunks([(999, 0)]) },
        Forgery("frames that are longer than the file") { $0.setChunks([(1001, 0)]) },
        Forgery("a frame more than the content has") { $0.setChunks([(500, 0), (500, 0)]) },
        Forgery("a frame less than the content has") {
            $0.stored = Array(repeating: 0, count: 10_000)
            $0.contentBytes = (1 << 20) + 1
            $0.setChunks([(10_000, 0)])
        },
        Forgery("a frame longer than any of its content") { $0.contentBytes = 900 },
        Forgery("more content than LZ4 packs into so few bytes") {
            $0.contentBytes = 1 << 30
            $0.setChunks(Array(repeating: (1, 0), count: 1000) + Array(repeating: (0, 0), count: 24))
        },
    ].map { forgery in
        Forgery(forgery.description) {
            $0.encoding = 1
            forgery.change(&$0)
        }
    }

    package static let trailers =
        ([0, 1, 39, 1 << 20, (1 << 20) + 1, .max] as [UInt32]).map { length in
            Forgery("footer length \(length)") { $0.claimedFooterLength = length }
        } + [
            Forgery("a footer longer than any") {
                $0.fields.append(.init(tag: 8, value: Array(repeating: 0, count: 1 << 20)))
            }
        ]
}

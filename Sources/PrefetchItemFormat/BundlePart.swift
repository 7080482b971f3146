internal import Foundation
public import PrefetchStorageAreas

/// One file of a bundle: an item whose content is that of several files, one after the other. Opened, it becomes a
/// folder with these files.
public struct BundlePart: Hashable, Sendable {
    /// The path of the file in the folder of the bundle, such as `images/cover.png`. Its last component is the name that
    /// the file will have, exactly.
    public let path: FolderPath
    /// Bytes of the file.
    public let contentBytes: Int64
    /// Whether the file is a program: whoever may read it may then execute it, once it was opened.
    public let isExecutable: Bool

    /// Creates a part. Bounds are not checked until ``ItemMetadata/validate()``.
    public init(_ path: FolderPath, contentBytes: Int64, isExecutable: Bool = false) {
        self.path = path
        self.contentBytes = contentBytes
        self.isExecutable = isExecutable
    }
}

/// Why files cannot be the parts of a bundle.
public enum BundleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Files of a folder are opened together, and the folder needs a place outside iCloud Drive, which takes files one by
    /// one.
    case unsuitableDestination
    /// The path occurs twice, or differs from another only in case or normalisation, which some file systems ignore, or is
    /// that of a file and of a folder.
    case conflictingPath(String)
    /// The length is negative.
    case negativeLength(path: String)
    /// There are none.
    case noFiles

    public var description: String {
        switch self {
        case .unsuitableDestination:
            "a bundle needs a destination in Documents or Application Support; specify one"
        case .conflictingPath(let path):
            "the path '\(path)' conflicts with that of another file of the bundle"
        case .negativeLength(let path): "the length of '\(path)' is negative"
        case .noFiles: "a bundle needs at least one file"
        }
    }
}

extension Collection<BundlePart> {
    /// Bytes of all parts; `nil` if they are more than ``ItemLimits/contentBytes``.
    package var contentBytes: Int64? {
        var total: Int64 = 0
        for part in self {
            let (sum, isTooLong) = total.addingReportingOverflow(part.contentBytes)
            guard !isTooLong, sum <= ItemLimits.contentBytes else { return nil }
            total = sum
        }
        return total
    }

    /// The folders of the parts below that of the bundle, each before those in it.
    package var folders: [FolderPath] {
        var seen: Set<FolderPath> = []
        return flatMap(\.path.ancestors).filter { seen.insert($0).inserted }
    }

    /// Where a part is in the content of the bundle; `nil` if there is none at that path.
    package func range(of path: FolderPath) -> Range<Int64>? {
        var start: Int64 = 0
        for part in self {
            if part.path == path { return start..<start + part.contentBytes }
            start += part.contentBytes
        }
        return nil
    }

    /// The length of the longest part in bytes.
    package var longest: Int64 { lazy.map(\.contentBytes).max() ?? 0 }

    func validate(for destination: Destination?) throws(ItemFormatError) {
        guard !isEmpty else { return }
        guard let area = destination?.area, area != .iCloudDrive else {
            throw .bundle(.unsuitableDestination)
        }
        for part in self where part.contentBytes < 0 {
            throw .bundle(.negativeLength(path: part.path.string))
        }
        guard contentBytes != nil else { throw .contentTooLong }
        let bytes = encodedBytes
        guard bytes <= ItemLimits.partsBytes else {
            throw .metadataTooLong(field: "list of files", bytes: bytes, limit: ItemLimits.partsBytes)
        }
        // Two that differ are one for some file systems.
        var names: Set<String> = []
        for path in folders + map(\.path) where !names.insert(path.comparable).inserted {
            throw .bundle(.conflictingPath(path.string))
        }
    }
}

extension FolderPath {
    /// The folders above, outermost first.
    fileprivate var ancestors: [FolderPath] {
        (1..<components.count).compactMap { FolderPath(prefix: $0, of: self) }
    }

    fileprivate var comparable: String {
        string.decomposedStringWithCanonicalMapping.lowercased()
    }
}

/// No path is so long.
private let executableFlag: UInt16 = 0x8000

/// The form of parts in the footer and in the ledger: for each the length of the file (i64), the length of its path in bytes
/// (u16, with the highest bit set if the file is executable) and the path, as UTF-8.
extension Collection<BundlePart> {
    private static var headLength: Int { 10 }

    package var encodedBytes: Int { reduce(0) { $0 + Self.headLength + $1.path.string.utf8.count } }

    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: encodedBytes)
        for part in self {
            let path = part.path.string.utf8
            writer.append(part.contentBytes)
            writer.append(UInt16(path.count) | (part.isExecutable ? executableFlag : 0))
            writer.append(bytes: path)
        }
        return writer.bytes
    }
}

extension [BundlePart] {
    /// - Throws: ``ItemFormatError/damaged(_:)``.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(ItemFormatError) {
        var reader = ByteReader(bytes, of: .footerFields)
        self = []
        while reader.count > 0 {
            let contentBytes = try reader.take(Int64.self)
            let head = try reader.take(UInt16.self)
            let path = try reader.take(count: Int(head & ~executableFlag))
            guard let text = String(validating: path, as: UTF8.self) else { throw .damaged(.footerFields) }
            do {
                append(
                    BundlePart(
                        try FolderPath(text), contentBytes: contentBytes,
                        isExecutable: head & executableFlag != 0))
            } catch {
                throw .damaged(.footerFields)
            }
        }
    }
}

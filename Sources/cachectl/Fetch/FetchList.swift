internal import PrefetchCache
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A list of downloads: one URL per line, optionally followed, each after a tab, by the item's key and the
/// SHA-256 digest of the content.
struct FetchList {
    /// In bytes. A hundred thousand URLs of usual length take a tenth of it.
    static let largestLength = 64 << 20
    private static let pieceLength = 1 << 20

    let targets: [FetchTarget]

    /// - Parameter file: A path, or `-` for standard input.
    init(_ file: FilePath) throws(CommandFailure) {
        let input = try InputFile(file)
        var content = Data()
        var piece = Data(count: Self.pieceLength)
        while true {
            let count = try input.read(into: &piece)
            content += piece.prefix(count)
            if count < piece.count { break }
            guard content.count <= Self.largestLength else {
                throw CommandFailure(.usage, "\(input.name) is too long for a list; the limit is 64 MiB")
            }
        }
        try self.init(content, name: input.name)
    }

    /// - Parameter name: The name of the file, for errors.
    init(_ content: Data, name: String) throws(CommandFailure) {
        var targets: [FetchTarget] = []
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, bytes) in lines.enumerated() {
            guard let line = String(validating: bytes, as: UTF8.self) else {
                throw CommandFailure(.usage, "\(name), line \(index + 1): this is not UTF-8")
            }
            do throws(FetchTargetError) {
                if let target = try Self.target(line) { targets.append(target) }
            } catch {
                throw CommandFailure(.usage, "\(name), line \(index + 1): \(error)")
            }
        }
        self.targets = targets
    }

    private static func target(_ line: String) throws(FetchTargetError) -> FetchTarget? {
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            .map { String($0.trimmed) }
        guard let url = columns.first, !url.isEmpty || columns.count > 1, !url.hasPrefix("#") else {
            return nil
        }
        guard columns.count <= 3 else { throw .columns(columns.count) }
        var key: ItemKey?
        if columns.count > 1, !columns[1].isEmpty {
            do {
                key = try ItemKey(columns[1])
            } catch {
                throw .key("\(error)")
            }
        }
        let digest = columns.count > 2 && !columns[2].isEmpty ? columns[2] : nil
        return try FetchTarget(url, key: key, sha256: digest)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}

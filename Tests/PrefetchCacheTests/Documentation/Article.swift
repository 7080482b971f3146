import Foundation
import Testing

@testable import PrefetchCaching

/// One article of the documentation catalogue.
struct Article {
    /// Where the package is. Links on the way to this file do not count.
    static let package = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let folder = package.appending(path: "Sources/PrefetchCaching/PrefetchCaching.docc")

    let text: String

    init(_ name: String) throws {
        text = try String(contentsOf: Self.folder.appending(path: "\(name).md"), encoding: .utf8)
    }

    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".md") }
            .map { String($0.dropLast(".md".count)) }
    }

    /// The rows of a table whose first column has the given title.
    ///
    /// - Parameters:
    ///   - section: The heading that the table lies under; `nil` for any.
    ///   - table: Which of several such tables, counted from 0.
    func rows(under title: String, in section: String? = nil, table: Int = 0) throws -> [[String]] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        if let section {
            lines = lines.drop { $0 != "## \(section)" && $0 != "### \(section)" }.dropFirst()
            lines = lines.prefix { !$0.hasPrefix("#") }
        }
        for _ in 0...table { lines = lines.drop { !$0.hasPrefix("| \(title) |") }.dropFirst() }
        let rows = lines.prefix { $0.hasPrefix("|") }.dropFirst().map { line in
            line.dropFirst().dropLast().split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        try #require(!rows.isEmpty, "no table '\(title)'")
        return rows
    }

    /// The bytes of the dump in the article, as `xxd` prints them.
    var dump: [UInt8] {
        text.split(separator: "\n")
            .compactMap { $0.wholeMatch(of: /[0-9a-f]{8}: ((?:[0-9a-f]{4} |[0-9a-f]{2} )+) .*/)?.1 }
            .flatMap { $0.filter { $0 != " " } }
            .reduce(into: (bytes: [UInt8](), high: UInt8?.none)) { result, digit in
                let nibble = UInt8(digit.hexDigitValue ?? 0)
                if let high = result.high {
                    result.bytes.append(high << 4 | nibble)
                    result.high = nil
                } else {
                    result.high = nibble
                }
            }.bytes
    }
}

extension [UInt8] {
    /// A little-endian integer.
    func integer(at offset: Int, width: Int) throws -> UInt64 {
        try #require(offset + width <= count)
        return UInt64.littleEndian(Array(self[offset..<offset + width]))
    }
}

extension FixedWidthInteger {
    var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { [UInt8]($0) } }
}

extension UInt64 {
    static func littleEndian(_ bytes: [UInt8]) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

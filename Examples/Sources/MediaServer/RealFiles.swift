package import Foundation
import Storytelling

/// Files of this machine that serve as media, with generated ones where there are not enough.
package struct RealFiles {
    private static let folders = ["/usr/lib", "/usr/share", "/System/Library/Fonts"]
    /// Levels below each folder; deeper files are many, and seldom large.
    private static let depth = 3

    /// Sorted by length; no two lengths are equal.
    package let files: [MediaFile]
    /// The number of generated files, which consist of random bytes.
    package let made: Int

    /// Chooses the files; the same machine always gives the same choice.
    ///
    /// - Parameter workshop: The folder for generated files.
    package init(_ count: Int, lengths: ClosedRange<Int>, workshop: URL) throws {
        var search = Search(count: count, lengths: lengths)
        for folder in Self.folders { search.look(in: URL(filePath: folder), depth: Self.depth) }
        var files = search.found
        made = count - files.count
        var generator = SplitMix64(state: 1)
        try FileManager.default.createDirectory(at: workshop, withIntermediateDirectories: true)
        while files.count < count {
            let words = Int.random(in: lengths, using: &generator) / 8
            let content = (0..<words).map { _ in generator.next() }.withUnsafeBytes { Data($0) }
            guard files[content.count] == nil else { continue }
            let url = workshop.appending(path: "made-up-\(files.count + 1).bin")
            try content.write(to: url)
            files[content.count] = MediaFile(url: url, length: Int64(content.count))
        }
        self.files = files.values.sorted { $0.length < $1.length }
    }
}

package struct MediaFile: Sendable {
    package let url: URL
    package let length: Int64

    package init(url: URL, length: Int64) {
        self.url = url
        self.length = length
    }
}

private struct Search {
    private static let keys: Set<URLResourceKey> = [
        .isRegularFileKey, .isDirectoryKey, .isSymbolicLinkKey, .fileSizeKey,
    ]

    let count: Int
    let lengths: ClosedRange<Int>
    /// By length; of several names of a file, one is enough.
    var found: [Int: MediaFile] = [:]

    mutating func look(in folder: URL, depth: Int) {
        let entries: [URL]
        do {
            entries = try FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: Array(Self.keys), options: .skipsHiddenFiles)
        } catch {
            // The folder of another user, or a missing one.
            return
        }
        for entry in entries.sorted(by: { $0.lastPathComponent < $1.lastPathComponent }) {
            guard found.count < count else { return }
            let values: URLResourceValues
            do {
                values = try entry.resourceValues(forKeys: Self.keys)
            } catch {
                // The file disappeared meanwhile.
                continue
            }
            if values.isDirectory == true, values.isSymbolicLink != true, depth > 1 {
                look(in: entry, depth: depth - 1)
            } else if values.isRegularFile == true, let length = values.fileSize {
                take(entry, length)
            }
        }
    }

    private mutating func take(_ file: URL, _ length: Int) {
        let path = file.path(percentEncoded: false)
        // Names that a URL has to encode would clutter the output.
        guard lengths.contains(length), found[length] == nil, file.path(percentEncoded: true) == path,
            FileManager.default.isReadableFile(atPath: path)
        else { return }
        found[length] = MediaFile(url: file, length: Int64(length))
    }
}

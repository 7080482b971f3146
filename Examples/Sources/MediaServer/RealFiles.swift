package import Foundation
import Storytelling

/// Files of this machine in the role of media, and made-up ones where there are not enough.
package struct RealFiles {
    private static let folders = ["/usr/lib", "/usr/share", "/System/Library/Fonts"]
    /// Below each of them; what is deeper down is seldom large, and there is a lot of it.
    private static let depth = 3

    /// In the order of their lengths, no two of which are the same.
    package let files: [MediaFile]
    /// So many of them are made up, of random bytes.
    package let made: Int

    /// The same machine gives the same choice.
    ///
    /// - Parameter workshop: The folder in which missing ones are made.
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
    /// By their lengths: of files with several names one is enough.
    var found: [Int: MediaFile] = [:]

    mutating func look(in folder: URL, depth: Int) {
        let entries: [URL]
        do {
            entries = try FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: Array(Self.keys), options: .skipsHiddenFiles)
        } catch {
            // Somebody else's folder, or none on this system.
            return
        }
        for entry in entries.sorted(by: { $0.lastPathComponent < $1.lastPathComponent }) {
            guard found.count < count else { return }
            let values: URLResourceValues
            do {
                values = try entry.resourceValues(forKeys: Self.keys)
            } catch {
                // It went away meanwhile.
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
        // A name that a URL has to encode would show in every line that is printed.
        guard lengths.contains(length), found[length] == nil, file.path(percentEncoded: true) == path,
            FileManager.default.isReadableFile(atPath: path)
        else { return }
        found[length] = MediaFile(url: file, length: Int64(length))
    }
}

import Foundation
import PrefetchCaching
import PrefetchDownloading

/// The app: sets of documentation, each of which is one item.
struct Reader: Sendable {
    let cache: PrefetchCache
    let downloader: PrefetchDownloader

    /// The index of a set; offline, the last one that was seen.
    func index(at url: URL) async throws -> Documentation? {
        let key = try ItemKey(url.path())
        let download = downloader.prefetch(DownloadRequest(url, key: key, source: "indices", priority: 1))
        _ = await download.outcome
        guard let json = try await cache.read(key, recordingUse: false) else { return nil }
        return try JSONDecoder().decode(Documentation.self, from: json)
    }

    /// Prefetches a set, or the version of it that the server has now.
    func update(_ set: Documentation, expires date: Date? = nil) async throws -> DownloadOutcome {
        let files = try set.pages.map { page in
            BundleFile(
                try FolderPath(page.path), at: set.base.appending(path: page.path),
                expecting: [.length(page.bytes)])
        }
        let request = DownloadRequest(
            bundle: files, key: try ItemKey(set.title), source: "documentation",
            destination: .documents(FileName(sanitizing: set.title)), expirationDate: date,
            whenPromoted: .replaceIfUnmodified)
        return await downloader.prefetch(request).outcome
    }

    /// The first line of each page of a cached set.
    func headings(of key: ItemKey) async throws -> [String] {
        var headings: [String] = []
        var start: Int64 = 0
        for page in try await cache.metadata(of: key)?.parts ?? [] {
            let range = start..<start + min(page.contentBytes, 80)
            if let head = try await cache.read(key, range: range, recordingUse: false) {
                headings += String(decoding: head, as: UTF8.self).split(separator: "\n").prefix(1)
                    .map(String.init)
            }
            start += page.contentBytes
        }
        return headings
    }

    /// The pages of a set that contain a text.
    func search(_ text: String, in key: ItemKey) async throws -> [FolderPath] {
        var found: [FolderPath] = []
        for path in try await pages(of: key) {
            guard let page = try await cache.read(key, part: path, recordingUse: false) else { continue }
            if String(decoding: page, as: UTF8.self).contains(text) { found.append(path) }
        }
        return found
    }

    /// The paths of the pages of a set, cached or opened.
    func pages(of key: ItemKey) async throws -> [FolderPath] {
        if let metadata = try await cache.metadata(of: key) { return metadata.parts.map(\.path) }
        guard case .promoted(let folder) = try await cache.status(of: key) else { return [] }
        return folder.parts.map(\.path)
    }
}

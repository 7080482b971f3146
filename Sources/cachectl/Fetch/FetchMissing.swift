internal import Foundation
internal import PrefetchCaching
internal import PrefetchDownloading

/// `fetch --missing`: opened files that are gone, and where their downloads came from.
extension Fetch {
    func fetchMissing(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let files = try await cache.promotedFiles().filter { file in
            file.isLost && (key == nil || key == file.key)
        }
        if let key, files.isEmpty {
            throw CommandFailure(
                .notFound, "no file of '\(key)' is missing; 'fetch --missing --dry-run' lists those that are")
        }
        let downloads = try files.compactMap { file in
            try DownloadRequest(rehydrating: file).flatMap { request in
                try file.provenance?.url.map { (try FetchTarget($0.absoluteString, key: file.key), request) }
            }
        }
        if dryRun { return try output.report(json(files, in: place), lines(files, in: place)) }
        if files.isEmpty { try output.confirm("no file is missing") }
        try await DownloadSession(
            cache: cache, configuration: configuration(for: downloads.map(\.0)), shared: shared
        ).run(downloads, to: output)
        if let file = files.first(where: { $0.provenance?.url == nil }) {
            let count = files.count - downloads.count
            throw CommandFailure(
                .notFound,
                "'\(file.key)'\(count > 1 ? " and \(count - 1) more" : "") cannot be downloaded again: no URL was "
                    + "recorded; let the app download it, or 'cachectl forget' the key")
        }
    }

    private func lines(_ files: [PromotedFile], in place: Place) -> [String] {
        guard !files.isEmpty else { return ["no file is missing"] }
        var table = TextTable([.left, .right, .left, .left])
        table.add(["KEY", "LENGTH", "PATH", "URL"])
        for file in files {
            table.add([
                file.key.string, Size.text(file.contentBytes), place.relativePath(file.location),
                file.provenance?.url?.absoluteString ?? "-",
            ])
        }
        let sum = files.reduce(0) { $0 + $1.contentBytes }
        let count = files.count == 1 ? "1 file is" : "\(files.count) files are"
        return table.lines + ["\(count) missing, \(Size.text(sum))"]
    }

    private func json(_ files: [PromotedFile], in place: Place) -> JSONObject {
        ["dryRun": true, "files": files.map { $0.json(in: place) }]
    }
}

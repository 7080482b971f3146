internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchDownloading

struct Rehydrate: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehydrate",
        abstract: "Downloads opened files again that no backup contained.",
        usage: "cachectl rehydrate [<key> …] [--dry-run] [<options>]",
        discussion: """
            After a restore, the files are missing that were excluded from backups. Each is downloaded from the URL \
            that was recorded with it ('fetch --record-url'), to where it was, and must have the recorded content. \
            A file that has since taken its name stays.

            Files that the user has moved or deleted are missing, too: with keys, only their files are downloaded.

            EXAMPLES:
              # List the missing files, and where they would come from
              cachectl rehydrate --dry-run --app org.example.app
              # Download all of them
              cachectl rehydrate --app org.example.app
            """)

    @Argument(help: ArgumentHelp("Only these items.", valueName: "key"), transform: ItemKey.parse)
    var keys: [ItemKey] = []

    @Flag(help: "Only list what is missing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "A host that servers may redirect to; *.example.org covers all below it.", valueName: "host"),
        transform: String.parse)
    var allowHost: [String] = []

    @Flag(help: "Allow plain http to other machines, which anyone along the way can read and change.")
    var allowInsecure = false

    @OptionGroup var shared: SharedOptions

    var handlesSignals: Bool { true }

    var isLooking: Bool { dryRun }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let files = try await cache.promotedFiles().filter { file in
            file.isLost && (keys.isEmpty || keys.contains(file.key))
        }
        if let unknown = keys.first(where: { key in !files.contains { $0.key == key } }) {
            throw CommandFailure(
                .notFound, "no file of '\(unknown)' is missing; 'rehydrate --dry-run' lists those that are")
        }
        let downloads = try files.compactMap { file in
            try DownloadRequest(rehydrating: file).flatMap { request in
                try file.provenance?.url.map { (try FetchTarget($0.absoluteString, key: file.key), request) }
            }
        }
        if dryRun { return try output.report(json(files, in: place), lines(files, in: place)) }
        if files.isEmpty { try output.confirm("no file is missing") }
        var configuration = DownloaderConfiguration(
            hosts: AllowedHosts(downloads.map(\.0.host) + allowHost))
        configuration.userAgent = "cachectl/\(PrefetchCache.version)"
        configuration.allowsInsecureHTTP = allowInsecure
        try await DownloadSession(cache: cache, configuration: configuration, shared: shared)
            .run(downloads, to: output)
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

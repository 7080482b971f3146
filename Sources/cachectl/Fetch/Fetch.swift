public import ArgumentParser
internal import Foundation
internal import PrefetchCaching
public import PrefetchDownloading
internal import SystemPackage

struct Fetch: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Downloads items, and resumes interrupted downloads.",
        usage: """
            cachectl fetch <url> … [--from-file <list>] [<options>]
            cachectl fetch --missing [--key <key>] [--dry-run] [<options>]
            """,
        discussion: """
            Items that are already stored are downloaded again only when the server has another version, and otherwise keep \
            the destination and the priority that they were stored with. An \
            interrupted download keeps its whole mebibytes, and the next 'fetch' of its key resumes there, if the \
            server can and --to, --name and --source are the same; Ctrl-C interrupts all downloads in this way. Each item is reported as "stored"; as \
            "unchanged", if the server has no newer version; as "kept", if it was there and the server was not \
            asked; or as "already opened", with the path of its file.

            The list has one URL per line, optionally followed, each after a tab, by the item's key and the \
            SHA-256 digest of the content. Empty lines and lines that begin with # are skipped. A line that is no \
            download is named, and the others are fetched, unless they are the files of a bundle. URLs may \
            contain a user name and a password: these are sent as HTTP Basic authorization, to that server \
            only, and are neither stored nor printed.

            The items of one run are a list, in order of preference: none displaces one before it, and of those after it \
            the last goes first, whatever the eviction policy. Items from other runs go in the order of the policy.

            With --bundle, all URLs are the files of one item: they are stored, evicted and opened together, as a \
            folder. In the list, the second column is then the path of the file in the folder, and otherwise it is \
            the last part of the URL's path.

            With --missing, opened files are downloaded that are gone, as those are after a restore that were excluded \
            from backups: each from the URL that was recorded with it (--record-url), to where it was, and only with \
            the recorded content. A file that has since taken its name stays. Files that the user has moved or deleted \
            are missing, too: with --key, only that one is downloaded.

            Only the hosts of the URLs are contacted, and those of --allow-host when a server redirects there.

            --json prints one object per line. "event" is started, resumed, progress (at most once per \
            percent), retrying or, once for each item, finished; "outcome" is then stored, delivered, \
            notModified, alreadyCached, alreadyPromoted, refused, postponed, cancelled or failed.

            Exit codes: 130 interrupted, 64 a line of the list is no download, 65 unexpected content, 69 a server failed, 75 \
            refused or postponed. If several items failed, the first of these that occurred.

            EXAMPLES:
              # Download an episode
              cachectl fetch https://example.org/42.mp3 --key e42 --app org.example.app
              # Download the files of a model as one item
              cachectl fetch --bundle tiny-3 --from-file tiny-3.txt --app org.example.app
              # Download a list, two at a time
              cachectl fetch --from-file episodes.txt --parallel 2 --app org.example.app
              # List the opened files that are missing, and where they would come from
              cachectl fetch --missing --dry-run --app org.example.app
            """)

    @Argument(
        help: ArgumentHelp("The http or https URL to download.", valueName: "url"), transform: String.parse)
    var urls: [String] = []

    @Option(
        help: ArgumentHelp("A file with URLs; - reads standard input.", valueName: "list"),
        completion: .file(), transform: FilePath.parse)
    var fromFile: FilePath?

    @Flag(help: "Download opened files that are gone.")
    var missing = false

    @Flag(help: "Only list what is missing.")
    var dryRun = false

    @Option(
        help:
            "The key of the item, for a single URL (default: the URL without user and fragment; of more than 1,024 bytes, \"sha256:\" and its digest).",
        transform: ItemKey.parse)
    var key: ItemKey?

    @Option(
        help: ArgumentHelp("The SHA-256 digest of the content, for a single URL.", valueName: "digits"),
        transform: String.parse)
    var sha256: String?

    @Option(
        help: ArgumentHelp("Store all URLs as the files of one item with this key.", valueName: "key"),
        transform: ItemKey.parse)
    var bundle: ItemKey?

    @OptionGroup var item: ItemOptions

    @Flag(help: "What to do with an item that is already stored.")
    var whenCached = DownloadRequest.WhenCached.revalidate

    @Flag(
        help: """
            Keep the URL with each item, so that --missing can download an opened file again. Not for URLs \
            whose query contains a secret.
            """)
    var recordUrl = false

    @Flag(help: "Ask servers not to compress what they send.")
    var uncompressed = false

    @Flag(
        help: "Store a page (HTML) also for a URL that says audio, video, image, archive, PDF or the like.")
    var anyType = false

    @Flag(help: "Replace opened files with the server's newer version, unless their user has changed them.")
    var replaceOpened = false

    @Option(help: ArgumentHelp("Simultaneous downloads in total (1 to 64).", valueName: "number"))
    var parallel = DownloaderConfiguration(hosts: []).transfers

    @Option(help: ArgumentHelp("Simultaneous downloads from one host (1 to 64).", valueName: "number"))
    var perHost = DownloaderConfiguration(hosts: []).transfersPerHost

    @Option(help: ArgumentHelp("Consecutive attempts without progress (1 to 64).", valueName: "number"))
    var tries = DownloaderConfiguration(hosts: []).attempts

    @Option(
        help: ArgumentHelp(
            "A host that servers may redirect to; *.example.org covers all below it.", valueName: "host"),
        transform: String.parse)
    var allowHost: [String] = []

    @Flag(help: "Allow plain http to other machines, which anyone along the way can read and change.")
    var allowInsecure = false

    @Flag(
        help: "Evict nothing for the items: store only what fits into free space.")
    var onlyFreeSpace = false

    @Flag(help: "Do not download what paused sources send, whose items are not opened ('stats --by source').")
    var gate = false

    @OptionGroup var shared: SharedOptions

    var handlesSignals: Bool { true }

    var needsCache: Bool { missing }

    var isLooking: Bool { dryRun }

    func validate() throws {
        for (option, number) in [("--parallel", parallel), ("--per-host", perHost), ("--tries", tries)]
        where !(1...64).contains(number) {
            throw ValidationError("\(option) must be from 1 to 64")
        }
        if dryRun, !missing { throw ValidationError("--dry-run is for --missing") }
        if missing {
            guard urls.isEmpty, fromFile == nil, bundle == nil, sha256 == nil else {
                throw ValidationError("--missing has its URLs from the cache: give none")
            }
            return
        }
        guard !urls.isEmpty || fromFile != nil else {
            throw ValidationError("give a URL, or a file with URLs: --from-file <list>")
        }
        if bundle != nil {
            guard key == nil, sha256 == nil, recordUrl == false, item.to != .none, item.to != .icloud else {
                throw ValidationError(
                    "--bundle is the key, and its files go to one folder: not with --key, --sha256, --record-url, "
                        + "or --to none or icloud")
            }
        } else if urls.count != 1 || fromFile != nil, key != nil || item.name != nil || sha256 != nil {
            throw ValidationError(
                "--key, --name and --sha256 are for one URL; put keys and digests of several into the list")
        }
    }

    func checkInput() throws {
        _ = try namedTargets()
        if let fromFile { try InputFile.check(fromFile) }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        if missing { return try await fetchMissing(on: cache, at: place, to: output) }
        let (targets, failures) = try targets()
        let requests =
            try bundle.map { try [(targets[0], request(for: targets, bundle: $0))] }
            ?? targets.map { ($0, request(for: $0)) }
        try await DownloadSession(
            cache: cache, configuration: configuration(for: targets), shared: shared
        ).run(requests, after: failures, to: output)
    }

    /// The downloads, and what is wrong with the lines of the list that are none.
    private func targets() throws -> (targets: [FetchTarget], failures: [CommandFailure]) {
        let listed = try fromFile.map { try FetchTarget.list(in: $0) } ?? (targets: [], failures: [])
        let targets = try namedTargets() + listed.targets
        guard bundle != nil else {
            let (distinct, failures) = FetchTarget.distinct(targets)
            return (distinct, listed.failures + failures)
        }
        // A bundle is whole or not at all.
        if let failure = listed.failures.first { throw failure }
        guard !targets.isEmpty else {
            throw CommandFailure.usage("the list has no URL: a bundle needs files")
        }
        return (targets, [])
    }

    private func namedTargets() throws -> [FetchTarget] {
        try urls.map { try FetchTarget($0, key: key, sha256: sha256) }
    }

    func configuration(for targets: [FetchTarget]) -> DownloaderConfiguration {
        var configuration = DownloaderConfiguration(hosts: AllowedHosts(targets.map(\.host) + allowHost))
        configuration.userAgent = "cachectl/\(PrefetchCache.version)"
        configuration.allowsInsecureHTTP = allowInsecure
        configuration.transfers = parallel
        configuration.transfersPerHost = perHost
        configuration.attempts = tries
        configuration.admission = onlyFreeSpace ? .onlyIntoFreeSpace : .evicting
        // Whoever enters the command wants it done now.
        configuration.conditions = []
        configuration.pausesUnopenedSources = gate
        return configuration
    }

    private func request(for target: FetchTarget) -> DownloadRequest {
        var request = DownloadRequest(
            target.url, key: target.key, destination: item.destination(target.fileName),
            expecting: expectations(target.digest), recordedURL: recordUrl ? target.url : nil)
        request.urlRequest = target.urlRequest
        request.allowsCompressedTransfer = !uncompressed
        return completed(request)
    }

    private func request(for targets: [FetchTarget], bundle key: ItemKey) throws -> DownloadRequest {
        // `--to none` is refused before.
        guard let destination = item.destination(FileName(sanitizing: key.string)) else {
            throw CommandFailure(.usage, "no destination")
        }
        let files = try targets.map { target in
            var file = BundleFile(
                try target.pathInBundle, at: target.url, expecting: expectations(target.digest))
            file.urlRequest = target.urlRequest
            return file
        }
        return completed(DownloadRequest(bundle: files, key: key, destination: destination))
    }

    private func expectations(_ digest: [UInt8]?) -> [ContentExpectation] {
        (digest.map { [.sha256($0)] } ?? []) + (anyType ? [.mediaType("*/*")] : [])
    }

    /// With what is said of all items.
    private func completed(_ request: DownloadRequest) -> DownloadRequest {
        var request = request
        if let source = item.source { request.source = source }
        request.intent = item.requested ? .userRequested : .opportunistic
        request.priority = item.priority ?? 0
        request.expirationDate = item.expiresAt.map(Date.init(milliseconds:))
        request.whenCached = whenCached
        if replaceOpened { request.whenPromoted = .replaceIfUnmodified }
        return request
    }
}

extension DownloadRequest.WhenCached: EnumerableFlag {
    public static var allCases: [DownloadRequest.WhenCached] { [.revalidate, .keep, .replace] }

    public static func help(for value: DownloadRequest.WhenCached) -> ArgumentHelp? {
        switch value {
        case .revalidate: "Ask the server for a newer version of a stored item."
        case .keep: "Keep a stored item, without asking the server."
        case .replace: "Download a stored item again in any case."
        }
    }
}

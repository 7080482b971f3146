import Foundation
import PrefetchCaching
import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app's downloads: its own session on one side, the cache on the other.
///
/// ```swift
/// try await downloads.storeArrivals()  // what an earlier launch left
/// for await arrival in downloads.arrivals {
///     switch arrival {
///     case .file: try await downloads.storeArrivals()
///     case .failed(let key, let reason): log(key, reason)
///     case .caughtUp: backgroundCompletionHandler?()
///     }
/// }
/// ```
final class EpisodeDownloads: Sendable {
    private let cache: PrefetchCache
    /// Checks and stores what the session has downloaded.
    private let downloader: PrefetchDownloader
    private let inbox: Inbox
    private let delegate: DownloadDelegate
    private let session: URLSession

    var arrivals: AsyncStream<DownloadDelegate.Arrival> { delegate.arrivals }

    /// - Parameter hosts: The servers that episodes come from.
    init(cache: PrefetchCache, areas: StorageAreas, hosts: AllowedHosts) throws {
        self.cache = cache
        downloader = PrefetchDownloader(
            cache: cache, configuration: DownloaderConfiguration(hosts: hosts))
        inbox = try Inbox(folder: areas.temporaryURL.appending(path: "Downloads"))
        delegate = DownloadDelegate(inbox: inbox)
        session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: nil)
    }

    /// In an app, the system continues the downloads while the app does not run, and launches it when they are done. An
    /// app without a bundle, such as this example, has no background session on any platform.
    private static var configuration: URLSessionConfiguration {
        #if canImport(Darwin)
            if let identifier = Bundle.main.bundleIdentifier {
                let configuration = URLSessionConfiguration.background(
                    withIdentifier: "\(identifier).episodes")
                // Downloads that the user has not asked for can wait for a good moment.
                configuration.isDiscretionary = true
                return configuration
            }
        #endif
        return .ephemeral
    }

    /// Begins a download, unless the cache would refuse its file.
    ///
    /// - Returns: The refusal, determined before the first byte instead of after the last.
    func fetch(_ url: URL, _ wish: Wish, length: Int64) async throws -> Refusal? {
        let capacity = try await cache.capacity()
        if let refusal = capacity.refusal { return refusal }
        guard length <= capacity.largestItemBytes else {
            return .largerThanLargestItem(needed: length, largest: capacity.largestItemBytes)
        }
        // With what a download of the cache's own would send, and over no network that it would not use.
        let task = session.downloadTask(with: downloader.urlRequest(for: try wish.request(url)))
        try wish.describe(task)
        task.resume()
        return nil
    }

    /// Stores the files in the inbox, which moves them into the cache. Not to be called concurrently.
    ///
    /// Call it before answering `caughtUp` with the completion handler of
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`: after that the app is suspended.
    ///
    /// - Returns: The outcomes by key.
    @discardableResult
    func storeArrivals() async throws -> [String: DownloadOutcome] {
        var outcomes: [String: DownloadOutcome] = [:]
        for file in try inbox.files() {
            if let note = try inbox.note(on: file), let response = note.response {
                let request = try note.wish.request(note.requested)
                let outcome = await downloader.finish(request, fileAt: file, response: response)
                // If the cache has failed, the file waits until the next time. A refusal is an answer, and so is content
                // that is not what was wanted: the file is removed.
                if case .failed(let error) = outcome, case .cache = error.reason { throw error }
                outcomes[note.wish.key] = outcome
            }
            try inbox.remove(file)
        }
        return outcomes
    }

    /// The keys being downloaded, including those of an earlier launch: check them before fetching anything again.
    func underWay() async throws -> [String] {
        let tasks = await withCheckedContinuation { continuation in
            session.getAllTasks { continuation.resume(returning: $0) }
        }
        return try tasks.compactMap { try Wish($0)?.key }
    }

    /// Ends the session; otherwise neither it nor its delegate would be released.
    func close() {
        session.invalidateAndCancel()
    }
}

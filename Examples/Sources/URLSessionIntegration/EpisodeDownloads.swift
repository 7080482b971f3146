import Foundation
import PrefetchCache

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app's downloads: a session of its own on one side, the cache on the other.
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
    private let inbox: Inbox
    private let delegate: DownloadDelegate
    private let session: URLSession

    var arrivals: AsyncStream<DownloadDelegate.Arrival> { delegate.arrivals }

    init(cache: PrefetchCache, areas: StorageAreas) throws {
        self.cache = cache
        inbox = try Inbox(folder: areas.temporaryURL.appending(path: "Downloads"))
        delegate = DownloadDelegate(inbox: inbox)
        session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: nil)
    }

    /// In an app, the system goes on with the downloads while the app does not run, and launches it when they are done.
    /// An app without a bundle, as this example, has no background session on any platform.
    private static var configuration: URLSessionConfiguration {
        #if canImport(Darwin)
            if let identifier = Bundle.main.bundleIdentifier {
                let configuration = URLSessionConfiguration.background(
                    withIdentifier: "\(identifier).episodes")
                // What the user has not asked for can wait for a good moment.
                configuration.isDiscretionary = true
                return configuration
            }
        #endif
        return .ephemeral
    }

    /// Begins a download that is worth beginning.
    ///
    /// - Returns: Why there is none: the cache would not take it. Asked before the first byte, and not after the last.
    func fetch(_ url: URL, _ wish: Wish, length: Int64) async throws -> Refusal? {
        let capacity = try await cache.capacity()
        if let refusal = capacity.refusal { return refusal }
        guard length <= capacity.largestItemBytes else {
            return .largerThanLargestItem(needed: length, largest: capacity.largestItemBytes)
        }
        let task = session.downloadTask(with: url)
        try wish.describe(task)
        task.resume()
        return nil
    }

    /// Stores what waits in the inbox, and removes it there. One call at a time.
    ///
    /// To be done before `caughtUp` is answered with the completion handler of
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`: after that the app is suspended.
    ///
    /// - Returns: What became of each.
    @discardableResult
    func storeArrivals() async throws -> [(key: String, outcome: StoreOutcome)] {
        // On the cache's own threads files may be looked at: these may block.
        try await withTaskExecutorPreference(cache.executor) { try await storeEntries() }
    }

    private func storeEntries() async throws -> [(key: String, outcome: StoreOutcome)] {
        var outcomes: [(key: String, outcome: StoreOutcome)] = []
        for entry in try inbox.entries() {
            let metadata = try entry.note.wish.metadata(entityTag: entry.note.entityTag)
            // A refusal is an answer, too: the file was a guess, there is no room for it, and it goes. An error is
            // thrown, and the file stays until the next time.
            let outcome = try await cache.store(contentsOf: entry.file, as: metadata)
            try inbox.remove(entry)
            outcomes.append((entry.note.wish.key, outcome))
        }
        return outcomes
    }

    /// The keys that are being downloaded, those of an earlier launch among them: ask before anything is fetched twice.
    func underWay() async throws -> [String] {
        let tasks = await withCheckedContinuation { continuation in
            session.getAllTasks { continuation.resume(returning: $0) }
        }
        return try tasks.compactMap { try Wish($0)?.key }
    }

    /// Ends the session, without which neither it nor its delegate would go away.
    func close() {
        session.invalidateAndCancel()
    }
}

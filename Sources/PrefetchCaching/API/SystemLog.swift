#if canImport(os)
    public import Foundation
    public import Logging
    internal import os

    /// Writes what the cache and the downloader log to the unified log of Apple's systems.
    ///
    /// ```swift
    /// LoggingSystem.bootstrap { SystemLogHandler(label: $0) }
    /// ```
    ///
    /// Messages are constant texts and public. Metadata, which has keys, paths and origins of URLs, is private: it is shown
    /// only where private data is logged.
    public struct SystemLogHandler: LogHandler {
        public var logLevel = Logging.Logger.Level.info
        public var metadata = Logging.Logger.Metadata()
        private let log: os.Logger

        /// Creates a handler.
        ///
        /// - Parameters:
        ///   - label: The category of the entries.
        ///   - subsystem: The subsystem of the entries; the identifier of the app by default.
        public init(label: String, subsystem: String = Bundle.main.bundleIdentifier ?? "PrefetchCache") {
            log = os.Logger(subsystem: subsystem, category: label)
        }

        public subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        public func log(event: LogEvent) {
            var all = metadata.merging(event.metadata ?? [:]) { $1 }
            if let error = event.error { all["error"] = "\(error)" }
            let details = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                .joined(separator: " ")
            log.log(
                level: event.level.systemType,
                "\(event.message.description, privacy: .public) \(details, privacy: .private)")
        }
    }

    extension Logging.Logger.Level {
        fileprivate var systemType: OSLogType {
            switch self {
            case .trace, .debug: .debug
            case .info: .info
            // What the system keeps by default.
            case .notice, .warning: .default
            case .error: .error
            case .critical: .fault
            }
        }
    }

    extension PrefetchCache {
        /// Shows what happens in the cache as points of interest in Instruments, until the cache is closed or the task is
        /// cancelled.
        ///
        /// - Parameter subsystem: The identifier of the app by default.
        public func emitSignposts(
            subsystem: String = Bundle.main.bundleIdentifier ?? "PrefetchCache"
        ) async {
            let signposter = OSSignposter(subsystem: subsystem, category: "PointsOfInterest")
            for await event in events { signposter.emitEvent(event.signpost) }
        }
    }

    extension CacheEvent {
        fileprivate var signpost: StaticString {
            switch self {
            case .stored: "stored"
            case .refused: "refused"
            case .evicted: "evicted"
            case .expired: "expired"
            case .removed: "removed"
            case .promoted: "promoted"
            case .forgotten: "forgotten"
            case .quarantined: "quarantined"
            case .purged: "purged"
            case .newerFormat: "newer format"
            case .pressure: "pressure"
            case .catalogRebuilt: "catalog rebuilt"
            case .eventsLost: "events lost"
            }
        }
    }
#endif

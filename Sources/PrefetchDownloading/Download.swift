public import PrefetchCaching
internal import Synchronization

/// A handle on a download.
///
/// ```swift
/// for await event in download.events {
///     if case .progress(let progress) = event { show(progress) }
/// }
/// ```
///
/// The download continues if this object is released.
public final class Download: Sendable {
    /// The number of events buffered per listener. A listener that falls further behind loses the oldest events, but
    /// never the last.
    private static let bufferedEvents = 256

    private struct State: Sendable {
        var hasStarted = false
        var latest: DownloadEvent?
        /// Each returns whether it wants more.
        var listeners: [@Sendable (DownloadEvent) -> Bool] = []
        var onCancel: (@Sendable (Download) -> Void)?

        var isOver: Bool { latest?.isLast == true }
    }

    /// The key of the content.
    public let key: ItemKey
    private let state = Mutex(State())

    init(_ key: ItemKey) {
        self.key = key
    }

    /// The events of the download: that it has started, if it has, then those from the latest one on. Ends after
    /// ``DownloadEvent/finished(_:)``.
    public var events: AsyncStream<DownloadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        add { event in
            let result = continuation.yield(event)
            if event.isLast { continuation.finish() }
            return if case .terminated = result { false } else { true }
        }
        return stream
    }

    /// The outcome of the download. Waits for its end. Cancelling the waiting task does what ``cancel()`` does.
    public var outcome: DownloadOutcome {
        get async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    listen { event in
                        if case .finished(let outcome) = event { continuation.resume(returning: outcome) }
                    }
                }
            } onCancel: {
                cancel()
            }
        }
    }

    /// Cancels this handle. The download ends when all of its handles have been cancelled. What has been stored is kept
    /// for a later download; ``outcome`` then has the number of bytes.
    public func cancel() {
        state.withLock { $0.onCancel }?(self)
    }

    func whenCancelled(_ body: @escaping @Sendable (Download) -> Void) {
        state.withLock { $0.onCancel = $0.isOver ? nil : body }
    }

    func receive(_ event: DownloadEvent) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.latest = event
            if event == .started { state.hasStarted = true }
            // While holding the lock, so that events arrive in order.
            state.listeners.removeAll { !$0(event) }
            if event.isLast { (state.listeners, state.onCancel) = ([], nil) }
        }
    }

    /// Calls `body` with what ``events`` has, in order. It must return at once, and call nothing of this download.
    package func listen(_ body: @escaping @Sendable (DownloadEvent) -> Void) {
        add { event in
            body(event)
            return true
        }
    }

    private func add(_ listener: @escaping @Sendable (DownloadEvent) -> Bool) {
        state.withLock { state in
            let past = [state.hasStarted && state.latest != .started ? .started : nil, state.latest]
            let wantsMore = past.compactMap(\.self).allSatisfy(listener)
            if wantsMore, !state.isOver { state.listeners.append(listener) }
        }
    }
}

/// Something that happened to a download.
public enum DownloadEvent: Hashable, Sendable {
    /// An attempt begins. It may end without contacting the server.
    case started
    /// The download resumes after this many bytes of an earlier one.
    case resumed(at: Int64)
    /// More of the content was stored.
    case progress(DownloadProgress)
    /// An attempt failed, and another one follows after this time.
    case retrying(after: Duration, DownloadError)
    /// The download ended. Always the last event.
    case finished(DownloadOutcome)

    var isLast: Bool {
        if case .finished = self { true } else { false }
    }
}

/// The progress of a download.
public struct DownloadProgress: Hashable, Sendable {
    /// Bytes of content that were written to the cache, including those of an earlier download.
    public let completedBytes: Int64
    /// Bytes of the whole content; `nil` if the server does not report them.
    public let totalBytes: Int64?

    /// Creates a progress value.
    public init(completedBytes: Int64, totalBytes: Int64?) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}

/// The outcome of a download.
public enum DownloadOutcome: Hashable, Sendable {
    /// The content was downloaded and cached.
    case stored(ItemSummary)
    /// The content was user-requested and went straight to its destination.
    case delivered(PromotedFile)
    /// The cache already has the server's current version.
    case notModified
    /// The content is cached, with the expected digest if there is one. The server was not contacted.
    case alreadyCached
    /// The user has opened the key; nothing was downloaded.
    case alreadyPromoted(PromotedFile)
    /// The cache refused the content. Nothing was downloaded, unless space ran out during the download. `keptBytes`
    /// bytes of content are kept, after which a later download of the key resumes.
    case refused(Refusal, keptBytes: Int64)
    /// A condition of the download is not met. `keptBytes` bytes of content are kept, after which a later download of the
    /// key resumes: request it again when the condition may be met.
    case postponed(UnmetCondition, keptBytes: Int64)
    /// The download was cancelled. `keptBytes` bytes of content are kept, after which a later download of the key
    /// resumes.
    case cancelled(keptBytes: Int64)
    /// The download failed.
    case failed(DownloadError)
}

/// One line for logs. Contains no part of a URL but an origin, and a path only of what was delivered or opened.
extension DownloadOutcome: CustomStringConvertible {
    public var description: String {
        let outcome =
            switch self {
            case .stored(let item): StoreOutcome.stored(item).description
            case .delivered(let file): StoreOutcome.delivered(file).description
            case .notModified: "not modified: the cache has the server's current version"
            case .alreadyCached: "already cached"
            case .alreadyPromoted(let file): "already opened: \(file.path)"
            case .refused(let refusal, _): StoreOutcome.refused(refusal).description
            case .postponed(let condition, _): "postponed, since \(condition)"
            case .cancelled: "cancelled"
            case .failed(let error): "failed: \(error)"
            }
        // The error says so itself.
        if case .failed = self { return outcome }
        return outcome + (keptBytes.map { $0 > 0 ? "; \($0) bytes are kept" : "" } ?? "")
    }
}

extension DownloadOutcome {
    /// Bytes of content that are kept of a download that did not end well; `nil` if all are.
    var keptBytes: Int64? {
        switch self {
        case .stored, .delivered, .notModified, .alreadyCached, .alreadyPromoted: nil
        case .refused(_, let bytes), .postponed(_, let bytes), .cancelled(let bytes): bytes
        case .failed(let error): error.keptBytes
        }
    }
}

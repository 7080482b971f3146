internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization

#if canImport(CPrefetchZlib)
    internal import CPrefetchZlib
#endif

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends single requests over HTTP. Follows no redirects, repeats nothing, and stores nothing.
protocol Transport: Sendable {
    func start(_ request: URLRequest) -> Exchange
}

/// The connection that an ``Exchange`` is fed by. Called on any thread.
protocol Feed: Sendable {
    /// Ends the transfer.
    func cancel()
    /// Goes on after ``Exchange/receive(_:)-(Data)`` has returned `false`.
    func proceed()
}

/// A request in progress and its response: a bounded pipe from the connection to the task that stores the body, with stall
/// detection.
///
/// Applies back-pressure: the connection pauses while the pipe holds ``capacity`` bytes or more or, before the body is first
/// requested, ``initialCapacity``. While it pauses, only the operating system reads ahead, and the server is throttled.
///
/// Must be read to its end or cancelled: until then the connection and the stall detection keep it alive.
final class Exchange: Sendable {
    /// The maximum number of buffered bytes, not counting one network read.
    static let capacity = 2 << 20
    /// The same before the body is first requested, when a small one has already arrived whole.
    static let initialCapacity = 16 << 10

    private struct State: Sendable {
        var feed: (any Feed)?
        var head: ResponseHead?
        var bytes = Data()
        var end: Result<Void, DownloadError.Reason>?
        /// Answers the call that is waiting for the server, or returns `false` if it must wait on.
        var reader: (@Sendable (inout State) -> Bool)?
        /// For how many spans in a row the server was waited for, and was too slow; `nil` before stalls were first looked for.
        var slowSpans: Int?
        /// The bytes of the body that arrived in these.
        var slowBytes = 0
        /// Whether the connection has paused since stalls were last looked for.
        var hasPaused = false
        var isBodyWanted = false
        var isPaused = false

        /// Whether the connection is to pause.
        var isFull: Bool { end == nil && bytes.count >= (isBodyWanted ? capacity : initialCapacity) }
    }

    /// Whether the response uses TLS.
    let isSecure: Bool
    /// The name of the file that the URL asks for.
    let name: String?
    private let state = Mutex(State())

    init(_ url: URL?) {
        isSecure = url?.scheme?.lowercased() == "https"
        name = url?.namedFile
    }

    // MARK: Storing task

    /// Waits for the head of the response.
    func head() async throws(DownloadError.Reason) -> ResponseHead {
        try await wait { state in
            if let head = state.head { return .success(head) }
            return state.end.map { $0.flatMap { .failure(.connection(.malformed)) } }
        }
    }

    /// Returns the bytes of the body that have arrived since the last call, or `nil` after the last byte.
    ///
    /// - Throws: Why the body ends early; ``TransferFailure/cancelled`` after ``cancel()``.
    func next() async throws(DownloadError.Reason) -> Data? {
        try await wait { state in
            state.isBodyWanted = true
            if state.bytes.isEmpty { return state.end.map { $0.map { nil } } }
            defer { state.bytes = Data() }
            return .success(state.bytes)
        }
    }

    /// Waits for the end of a response without a body, so that its connection can be reused.
    func drain() async {
        do {
            if try await next() == nil { return }
        } catch {
            // The head was all that mattered.
        }
        cancel()
    }

    /// Ends the exchange. Does nothing if it is over.
    func cancel() { end(.connection(.cancelled)) }

    /// Whether somebody waits for the server.
    var isAwaited: Bool { state.withLock { $0.reader != nil } }

    var isOver: Bool { state.withLock { $0.end != nil } }

    /// Notes that a span of time is over, and ends the exchange if the server was too slow in the last ones. Only time spent
    /// waiting for the server counts.
    ///
    /// - Parameter isAwaited: Whether another download waits for this one to end. Half the time is for a body only: an
    ///   answer may take long to make.
    func endSpan(_ limit: SpeedLimit, isAwaited: () -> Bool) {
        let (spans, bytes, hasHead) = state.withLock { state in
            if state.isPaused || state.hasPaused || state.slowSpans == nil || limit.isMet(state.slowBytes) {
                (state.slowSpans, state.slowBytes) = (0, 0)
            } else if state.reader != nil {
                // Otherwise what has arrived is being stored: its bytes count for the next span.
                state.slowSpans? += 1
            }
            state.hasPaused = false
            return (state.slowSpans ?? 0, state.slowBytes, state.head != nil)
        }
        if let time = limit.stall(after: spans, bytes, isAwaited: { hasHead && isAwaited() }) {
            end(.stalled(time))
        }
    }

    /// Waits until `answer` returns a result. Cancels the exchange if the task is cancelled.
    private func wait<Value: Sendable>(
        for answer: @escaping @Sendable (inout State) -> Result<Value, DownloadError.Reason>?
    ) async throws(DownloadError.Reason) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<Value, DownloadError.Reason>, Never>) in
                change { state in
                    state.reader = { state in
                        guard let result = answer(&state) else { return false }
                        continuation.resume(returning: result)
                        return true
                    }
                }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    private func end(_ reason: DownloadError.Reason) {
        let feed = change { state in
            guard state.end == nil else { return nil as (any Feed)? }
            state.end = .failure(reason)
            state.head = nil
            state.bytes = Data()
            return state.feed
        }
        feed?.cancel()
    }

    // MARK: Connection

    func begin(_ feed: any Feed) {
        let isOver = state.withLock { state in
            state.feed = feed
            return state.end != nil
        }
        if isOver { feed.cancel() }
    }

    func receive(_ head: ResponseHead) {
        change { state in
            if state.head == nil, state.end == nil { state.head = head }
        }
    }

    /// Takes a piece of the body.
    ///
    /// - Returns: Whether the connection is to go on at once; otherwise when ``Feed/proceed()`` is called.
    func receive(_ bytes: Data) -> Bool {
        change { state in
            state.slowBytes += bytes.count
            if state.end == nil { state.bytes.append(bytes) }
        }
        return state.withLock { state in
            state.isPaused = state.isFull
            if state.isPaused { state.hasPaused = true }
            return !state.isPaused
        }
    }

    func finish(_ end: Result<Void, DownloadError.Reason>) {
        change { state in
            if state.end == nil { state.end = end }
        }
    }

    /// Changes the state, answers the waiting call if that is now possible, and lets the connection go on if there is room
    /// again.
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, paused) = state.withLock { state in
            let value = body(&state)
            if let reader = state.reader, reader(&state) { state.reader = nil }
            guard state.isPaused, !state.isFull else { return (value, nil as (any Feed)?) }
            state.isPaused = false
            return (value, state.end == nil ? state.feed : nil)
        }
        paused?.proceed()
        return value
    }
}

/// A piece of content.
struct ReceivedPiece {
    var content: Data
    /// How many bytes were received for it since the last piece.
    var receivedBytes: Int

    /// - Parameter receivedBytes: `nil` if it was not encoded.
    init(_ content: Data, receivedBytes: Int? = nil) {
        (self.content, self.receivedBytes) = (content, receivedBytes ?? content.count)
    }
}

extension Exchange {
    /// The pieces of the content, one with each call, and `nil` after the last one.
    ///
    /// - Parameter isGzip: Whether the body is to be decoded.
    func content(isGzip: Bool = false) -> () async throws(DownloadError.Reason) -> ReceivedPiece? {
        #if canImport(CPrefetchZlib)
            if isGzip {
                let body = DecodedBody { () throws(DownloadError.Reason) in try await self.next() }
                return { () throws(DownloadError.Reason) in try await body.next() }
            }
        #endif
        return { () throws(DownloadError.Reason) in try await self.next().map { ReceivedPiece($0) } }
    }
}

#if canImport(CPrefetchZlib)
    /// The content of a body in `gzip`, decoded piece by piece as it is asked for.
    ///
    /// Not by the library that transfers: libcurl 7.88 takes a body for complete that ends before its encoding does, refuses
    /// one of two members, and decodes ahead of what is asked for.
    final class DecodedBody {
        /// The most bytes of content that are decoded at once.
        private static let pieceBytes = 256 << 10
        /// Content that is longer may at most be ``largestRatio`` times as long as what was received. A few dozen are the rule
        /// for logs and tables, and more than 1,032 are impossible.
        private static let unlimitedBytes: Int64 = 16 << 20
        private static let largestRatio: Int64 = 200

        private let source: () async throws(DownloadError.Reason) -> Data?
        private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        private var isBegun = false
        /// Whether nothing, or a whole member, has been decoded.
        private var isBetweenMembers = true
        /// Whether the last piece had no more room, so that there may be more of it.
        private var isFull = false
        private var input = Data()
        private var receivedBytes: Int64 = 0
        private var reportedBytes: Int64 = 0
        private var contentBytes: Int64 = 0

        /// - Parameter source: Returns the next piece of the body, or `nil` after the last one.
        init(from source: @escaping () async throws(DownloadError.Reason) -> Data?) {
            self.source = source
            stream.initialize(to: z_stream())
        }

        deinit {
            if isBegun { inflateEnd(stream) }
            stream.deallocate()
        }

        /// Returns the next piece, which may have no content, or `nil` after the last one.
        ///
        /// - Throws: ``DownloadError/Reason/undecodable`` if the body is damaged or ends early,
        ///   ``DownloadError/Reason/expandsTooFar(received:content:)``, and what the source throws.
        func next() async throws(DownloadError.Reason) -> ReceivedPiece? {
            while true {
                if let content = try decode() { return piece(content) }
                guard let more = try await source() else { break }
                receivedBytes += Int64(more.count)
                input = more
            }
            guard isBegun, isBetweenMembers else { throw .undecodable }
            return receivedBytes > reportedBytes ? piece(Data()) : nil
        }

        private func piece(_ content: Data) -> ReceivedPiece {
            defer { reportedBytes = receivedBytes }
            return ReceivedPiece(content, receivedBytes: Int(receivedBytes - reportedBytes))
        }

        /// Decodes from what was received.
        ///
        /// - Returns: `nil` if more has to be received first.
        private func decode() throws(DownloadError.Reason) -> Data? {
            while true {
                if input.isEmpty, !isFull { return nil }
                if isBetweenMembers { try beginMember() }
                var content = Data(count: Self.pieceBytes)
                let (result, used, made) = inflate(into: &content)
                input = input.dropFirst(used)
                contentBytes += Int64(made)
                isFull = made == Self.pieceBytes && result != Z_STREAM_END
                switch result {
                case Z_OK: break
                case Z_STREAM_END: isBetweenMembers = true
                // Nothing could be done without more of the body.
                case Z_BUF_ERROR: return nil
                default: throw .undecodable
                }
                if contentBytes > max(Self.unlimitedBytes, receivedBytes * Self.largestRatio) {
                    throw .expandsTooFar(received: receivedBytes, content: contentBytes)
                }
                if made > 0 { return content.prefix(made) }
            }
        }

        /// A body may have several members (RFC 1952, section 2.2).
        private func beginMember() throws(DownloadError.Reason) {
            let result = isBegun ? inflateReset(stream) : cprefetch_inflate_init(stream, 16 + MAX_WBITS)
            guard result == Z_OK else { throw .undecodable }
            (isBegun, isBetweenMembers) = (true, false)
        }

        private func inflate(into content: inout Data) -> (result: Int32, used: Int, made: Int) {
            input.withUnsafeBytes { input in
                content.withUnsafeMutableBytes { content in
                    // zlib reads the input without changing it.
                    stream.pointee.next_in = UnsafeMutablePointer(
                        mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
                    stream.pointee.avail_in = UInt32(input.count)
                    stream.pointee.next_out = content.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.pointee.avail_out = UInt32(content.count)
                    let result = CPrefetchZlib.inflate(stream, Z_NO_FLUSH)
                    return (
                        result, input.count - Int(stream.pointee.avail_in),
                        content.count - Int(stream.pointee.avail_out)
                    )
                }
            }
        }
    }
#endif

/// How slow a server may be, and for how long.
struct SpeedLimit: Sendable {
    /// A window is divided into so many spans.
    private static let spans = 16
    /// The fewest bytes of a body in a second.
    static let lowestSpeed = 1024.0

    let window: Duration

    init(_ window: Duration) { self.window = max(window, .milliseconds(1)) }

    var span: Duration { window / Self.spans }

    /// Whether so many bytes are enough for the window, or for half of it.
    func isMet(_ bytes: Int, inHalf isHalf: Bool = false) -> Bool {
        Double(bytes) >= max(1, Self.lowestSpeed * (window / .seconds(isHalf ? 2 : 1)))
    }

    /// How long a server has been too slow: for the window, or for half of it if its slot is awaited.
    ///
    /// - Parameters:
    ///   - spans: For how many spans the server was waited for.
    ///   - bytes: Bytes of a body in these.
    func stall(after spans: Int, _ bytes: Int, isAwaited: () -> Bool) -> Duration? {
        if spans >= Self.spans, !isMet(bytes) { return window }
        return spans >= Self.spans / 2 && !isMet(bytes, inHalf: true) && isAwaited() ? window / 2 : nil
    }
}

/// Ends exchanges whose servers say nothing or next to nothing, by one timer for all of them.
final class StallDetection: Sendable {
    private struct State {
        var watched: [(exchange: Exchange, isAwaited: @Sendable () -> Bool)] = []
        var timer: Task<Void, Never>?
    }

    private let limit: SpeedLimit
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = UnfairMutex(State())

    init(_ limit: SpeedLimit, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.limit = limit
        self.sleep = sleep
    }

    deinit {
        state.withLock { $0.timer }?.cancel()
    }

    /// Watches an exchange until it is over.
    ///
    /// - Parameter isAwaited: Whether another download waits for it to end.
    func watch(_ exchange: Exchange, isAwaited: @escaping @Sendable () -> Bool = { false }) {
        state.withLock { state in
            state.watched.removeAll(where: \.exchange.isOver)
            state.watched.append((exchange, isAwaited))
            if state.timer == nil { state.timer = start() }
        }
    }

    private func start() -> Task<Void, Never> {
        Task { [weak self, limit, sleep] in
            repeat {
                do {
                    // Injected: a timer, which a test advances.
                    try await sleep(limit.span)
                } catch {
                    return
                }
            } while self?.endStalled() == true
        }
    }

    /// - Returns: Whether any exchanges are left.
    private func endStalled() -> Bool {
        let watched = state.withLock { state in
            state.watched.removeAll(where: \.exchange.isOver)
            if state.watched.isEmpty { state.timer = nil }
            return state.watched
        }
        for each in watched { each.exchange.endSpan(limit, isAwaited: each.isAwaited) }
        return !watched.isEmpty
    }
}

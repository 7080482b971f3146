public import Foundation
internal import Synchronization

/// A server on loopback that answers as a test wants it to, down to the bytes on the wire. A thread per connection;
/// gone when the test lets go of it.
///
///     let server = try HTTPTestServer { request in TestAnswer(body: content) }
public final class HTTPTestServer: Sendable {
    public typealias Handler = @Sendable (TestRequest) -> TestAnswer

    private struct State {
        var requests: [TestRequest] = []
        var bodyBytesSent: Int64 = 0
        var connections: Set<Int32> = []
        var connectionCount = 0
        var isClosed = false
        var heldUp: [CheckedContinuation<Void, Never>] = []
        var hasSentAll = false
    }

    private let reserved: ReservedPort
    private let listener: Int32
    private let handler: Handler
    private let state = Mutex(State())

    public convenience init(_ handler: @escaping Handler) throws { try self.init(isIPv6: false, handler) }

    /// - Parameter isIPv6: Whether it listens on `::1` rather than on 127.0.0.1.
    public init(isIPv6: Bool, _ handler: @escaping Handler) throws {
        self.handler = handler
        reserved = try ReservedPort(isIPv6: isIPv6)
        listener = try Socket.listener(on: reserved)
        let (listener, weakSelf) = (listener, WeakServer(self))
        Thread.detachNewThread {
            while let connection = Socket.connection(to: listener) {
                guard let server = weakSelf.server, server.keep(connection) else {
                    Socket.end(connection)
                    continue
                }
                Thread.detachNewThread { server.serve(connection) }
            }
            // Here, as its number may be another server's as soon as it is closed.
            Socket.end(listener)
        }
    }

    deinit {
        close()
    }

    /// Breaks all connections, and refuses new ones.
    public func close() {
        let (isFirst, connections) = state.withLock { state in
            defer { state.isClosed = true }
            return (!state.isClosed, state.connections)
        }
        guard isFirst else { return }
        for connection in connections { Socket.shutDown(connection) }
        Socket.shutDown(listener)
    }

    public var port: UInt16 { reserved.number }

    public func url(_ path: String = "/file", host: String = "127.0.0.1") -> URL {
        guard let url = URL(string: "http://\(host):\(port)\(path)") else {
            preconditionFailure("\(path) is no path")
        }
        return url
    }

    /// All requests so far, in the order of their arrival.
    public var requests: [TestRequest] { state.withLock { $0.requests } }

    /// Connections so far.
    public var connections: Int { state.withLock { $0.connectionCount } }

    /// Bytes of bodies that the operating system has taken.
    public var bodyBytesSent: Int64 { state.withLock { $0.bodyBytesSent } }

    /// Waits until a client has taken no byte for half a second from now on, or a body is sent or
    /// not wanted any more.
    public func heldUp() async {
        await withCheckedContinuation { continuation in
            let hasSentAll = state.withLock { state in
                if !state.hasSentAll { state.heldUp.append(continuation) }
                return state.hasSentAll
            }
            if hasSentAll { continuation.resume() }
        }
    }

    private func keep(_ connection: Int32) -> Bool {
        state.withLock { state in
            if !state.isClosed {
                state.connections.insert(connection)
                state.connectionCount += 1
            }
            return !state.isClosed
        }
    }

    private func serve(_ connection: Int32) {
        defer {
            _ = state.withLock { $0.connections.remove(connection) }
            Socket.end(connection)
        }
        while let head = Socket.readHead(connection), let request = TestRequest(head) {
            state.withLock { $0.requests.append(request) }
            var answer = handler(request)
            if request.method == "HEAD" { answer.sentBody = Data() }
            guard Socket.transmit(answer.head, on: connection) == .all else { return }
            let pause = answer.interlude?.offset ?? answer.sentBody.count
            guard send(answer.sentBody.prefix(pause), on: connection) else { return }
            answer.interlude?.body()
            guard send(answer.sentBody.dropFirst(pause), on: connection) else { return }
            switch answer.ending {
            case .complete: continue
            case .drop: return
            case .stall:
                // Until the client goes, or the server.
                _ = Socket.readHead(connection)
                return
            }
        }
    }

    private func send(_ body: Data, on connection: Int32) -> Bool {
        var rest = body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(65_536)
            switch Socket.transmit(piece, on: connection) {
            case .all: break
            case .heldUp:
                noteHeldUp(hasSentAll: false)
                continue
            case .broken:
                noteHeldUp(hasSentAll: true)
                return false
            }
            rest = rest.dropFirst(piece.count)
            state.withLock { $0.bodyBytesSent += Int64(piece.count) }
        }
        noteHeldUp(hasSentAll: true)
        return true
    }

    private func noteHeldUp(hasSentAll: Bool) {
        let waiting = state.withLock { state in
            if hasSentAll { state.hasSentAll = true }
            defer { state.heldUp = [] }
            return state.heldUp
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// For the thread that listens, which must not keep the server.
private final class WeakServer: Sendable {
    private let reference: Mutex<Weak>

    private struct Weak: Sendable {
        weak var server: HTTPTestServer?
    }

    init(_ server: HTTPTestServer) {
        reference = Mutex(Weak(server: server))
    }

    var server: HTTPTestServer? { reference.withLock { $0.server } }
}

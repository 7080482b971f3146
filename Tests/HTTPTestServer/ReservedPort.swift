/// A port of 127.0.0.1 that nobody else is given while this lives. Who connects is refused until a server listens on it,
/// and again when that has ended.
final class ReservedPort: Sendable {
    let number: UInt16
    private let socket: Int32

    init() throws {
        (socket, number) = try Socket.bind(to: 0)
    }

    deinit {
        Socket.close(socket)
    }
}

internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The few calls on sockets that a server needs.
enum Socket {
    enum Sent {
        case all
        /// Nothing could be sent for ``patience``.
        case heldUp
        case broken
    }

    /// Milliseconds.
    private static let patience: Int32 = 500
    /// Small, so that what a client has not taken is not on its way either.
    private static let bufferLength: Int32 = 128 << 10

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
        private static let sendFlags: Int32 = 0
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    /// Binds a new socket to a port of this machine, which all sockets that are bound here may share.
    ///
    /// - Parameters:
    ///   - port: 0 for one that nobody has.
    ///   - isIPv6: Whether the address is `::1` rather than 127.0.0.1.
    static func bound(to port: UInt16, isIPv6: Bool) throws -> (socket: Int32, port: UInt16) {
        let bound = socket(isIPv6 ? AF_INET6 : AF_INET, stream, 0)
        set(SO_REUSEADDR, 1, on: bound)
        #if canImport(Darwin)
            set(SO_REUSEPORT, 1, on: bound)
        #endif
        let number: UInt16?
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            number = assign(&address, to: bound)?.sin6_port
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            number = assign(&address, to: bound)?.sin_port
        }
        guard bound >= 0, let number else { throw failure(closing: bound) }
        return (bound, UInt16(bigEndian: number))
    }

    /// - Returns: The address that the socket got; `nil` on failure.
    private static func assign<Address>(_ address: inout Address, to socket: Int32) -> Address? {
        var length = socklen_t(MemoryLayout<Address>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && getsockname(socket, address, &length) == 0
            }
        }
        return isBound ? address : nil
    }

    static func listener(on port: ReservedPort) throws -> Int32 {
        let listener = try bound(to: port.number, isIPv6: port.isIPv6).socket
        set(SO_SNDBUF, bufferLength, on: listener)
        guard listen(listener, 128) == 0 else { throw failure(closing: listener) }
        return listener
    }

    private static func failure(closing socket: Int32) -> POSIXError {
        let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        if socket >= 0 { _ = close(socket) }
        return error
    }

    /// `nil` when the listener was shut down.
    static func connection(to listener: Int32) -> Int32? {
        while true {
            let connection = accept(listener, nil, nil)
            if connection >= 0 {
                #if canImport(Darwin)
                    set(SO_NOSIGPIPE, 1, on: connection)
                #endif
                return connection
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    private static func set(_ option: Int32, _ value: Int32, on socket: Int32) {
        var value = value
        _ = setsockopt(socket, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Reads up to an empty line; `nil` when the connection ends before.
    static func readHead(_ connection: Int32) -> String? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while recv(connection, &byte, 1, 0) == 1 {
            head.append(byte)
            if byte == 0x0A, head.suffix(4) == [0x0D, 0x0A, 0x0D, 0x0A] {
                return String(decoding: head.dropLast(4), as: UTF8.self)
            }
        }
        return nil
    }

    /// Sends all bytes, or none when the client takes none for a while.
    static func transmit(_ bytes: Data, on connection: Int32) -> Sent {
        var ready = pollfd(fd: connection, events: Int16(POLLOUT), revents: 0)
        if poll(&ready, 1, patience) == 0 { return .heldUp }
        return bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return .all }
            var sent = 0
            while sent < buffer.count {
                let count = send(connection, start + sent, buffer.count - sent, sendFlags)
                if count > 0 {
                    sent += count
                } else if errno != EINTR {
                    return .broken
                }
            }
            return .all
        }
    }

    static func shutDown(_ socket: Int32) {
        _ = shutdown(socket, Int32(SHUT_RDWR))
    }

    static func end(_ socket: Int32) { _ = close(socket) }
}

/// A port of this machine that nobody else is given while this lives. Who connects is refused until a server listens on it,
/// and again when that has ended.
final class ReservedPort: Sendable {
    let number: UInt16
    let isIPv6: Bool
    private let socket: Int32

    init(isIPv6: Bool = false) throws {
        self.isIPv6 = isIPv6
        (socket, number) = try Socket.bound(to: 0, isIPv6: isIPv6)
    }

    deinit {
        Socket.end(socket)
    }
}

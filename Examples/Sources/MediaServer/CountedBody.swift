import FlyingFox
import FlyingSocks
import Foundation

/// A body that counts the bytes sent, and fails in the middle if told to.
struct CountedBody: AsyncBufferedSequence {
    typealias Element = UInt8

    let body: HTTPBodySequence
    let mishap: Mishap?
    let note: @Sendable (Int) -> Void

    func makeAsyncIterator() -> Iterator {
        Iterator(pieces: body.makeAsyncIterator(), mishap: mishap, note: note)
    }

    struct Iterator: AsyncBufferedIteratorProtocol {
        private var pieces: HTTPBodySequence.Iterator
        private let mishap: Mishap?
        private let note: @Sendable (Int) -> Void
        /// Bytes returned last: a request for more means that they were sent.
        private var underWay = 0
        private var sent = 0
        private var rest = Data()

        init(pieces: HTTPBodySequence.Iterator, mishap: Mishap?, note: @escaping @Sendable (Int) -> Void) {
            self.pieces = pieces
            self.mishap = mishap
            self.note = note
        }

        mutating func next() async throws -> UInt8? {
            try await nextBuffer(suggested: 1)?.first
        }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            note(underWay)
            sent += underWay
            underWay = 0
            let allowed = (mishap?.limit ?? .max) - sent
            if allowed <= 0 { try await goWrong() }
            if rest.isEmpty { rest = try await pieces.next() ?? Data() }
            guard !rest.isEmpty else { return nil }
            let piece = rest.prefix(Swift.min(count, allowed))
            rest = rest.dropFirst(piece.count)
            underWay = piece.count
            return piece
        }

        /// An error in a body breaks its connection: after an announced length, nothing else is possible.
        private func goWrong() async throws {
            // A silent server. The sleep never ends by itself: the end of the server cancels it.
            if case .holdBack = mishap { try await Task.sleep(for: .seconds(3600)) }
            throw BrokenOff()
        }
    }
}

private struct BrokenOff: Error {}

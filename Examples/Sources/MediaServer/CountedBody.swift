import FlyingFox
import FlyingSocks
import Foundation

/// A body that counts what is sent of it, and that goes wrong in the middle when it is told to.
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
        /// What was handed out last: who asks for more has sent it.
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

        /// An error in a body breaks its connection: that is all that is left to do after an announced length.
        private func goWrong() async throws {
            // A server that says nothing any more. Nobody waits for the end of it: the server's own end cancels it.
            if case .holdBack = mishap { try await Task.sleep(for: .seconds(3600)) }
            throw BrokenOff()
        }
    }
}

private struct BrokenOff: Error {}

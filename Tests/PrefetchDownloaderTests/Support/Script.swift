import HTTPTestServer
import Synchronization

/// Answers to one request after the other; the last goes for all that follow.
final class Script: Sendable {
    private let answers: [HTTPTestServer.Handler]
    private let next = Atomic<Int>(0)

    init(_ answers: [HTTPTestServer.Handler]) {
        self.answers = answers
    }

    var handler: HTTPTestServer.Handler {
        { [self] request in
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            return answers[min(index, answers.count - 1)](request)
        }
    }
}

extension HTTPTestServer {
    /// Serves one answer after the other; the last goes for all requests that follow.
    convenience init(inTurn answers: Handler...) throws {
        let script = Script(answers)
        try self.init(script.handler)
    }

    /// Serves ``content``, the first time only so much of it.
    convenience init(breakingAt length: Int, _ ending: TestAnswer.Ending = .drop) throws {
        try self.init(
            inTurn: { resource.answer(to: $0).cut(after: length, ending) }, { resource.answer(to: $0) })
    }
}

/// A server that says nothing more of ``content`` after so many bytes until the gate is opened.
func heldServer(after length: Int = 2_200_000) throws -> (server: HTTPTestServer, gate: Gate) {
    let gate = Gate()
    return (try HTTPTestServer { resource.answer(to: $0).after(length) { gate.wait() } }, gate)
}

/// True once.
final class Once: Sendable {
    private let isOver = Atomic(false)

    var isFirst: Bool { !isOver.exchange(true, ordering: .relaxed) }
}

/// ``content`` as it should be served.
let resource = TestResource(content)

extension TestAnswer {
    /// The same without a length.
    var endingWithItsConnection: TestAnswer {
        var answer = self
        answer.announcedLength = nil
        answer.ending = .drop
        return answer
    }
}

import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Interrupted items that the user asked for, when their process dies or is failed by the system at any call.
@Suite struct StagedPartialCrashTests {
    private static let content = noise((3 << 20) + 70_000)

    /// Begins, breaks off, goes on, breaks off, goes on and completes; and then keeps another item, and begins it anew.
    private static func work(_ engine: Engine) throws {
        let first = try engine.beginDelivery("film", expectedLength: nil, keepingPartial: true)
        try append(content.prefix(1_500_000), to: first)
        _ = try first.suspend()
        for end in [2_500_000, content.count] {
            guard let partial = try engine.partial(of: "film", for: .userRequested),
                case .begun(let store)? = try engine.resume(partial, replay: { _ in })
            else { return }
            try append(content[Int(store.contentBytes)..<end], to: store)
            if end == content.count { _ = try store.commit() } else { _ = try store.suspend() }
        }
        let other = try engine.beginDelivery("other", expectedLength: 2 << 20, keepingPartial: true)
        try append(content.prefix(1_200_000), to: other)
        _ = try other.suspend()
        _ = try engine.beginDelivery("other", expectedLength: nil, keepingPartial: true).suspend()
    }

    private static func append(_ content: Data, to store: UnfinishedStore) throws {
        try store.append(content)
    }

    private static func attempt(_ engine: Engine) {
        do {
            try work(engine)
        } catch is CacheError {
            return
        } catch {
            Issue.record(error)
        }
    }

    /// Whatever has happened: what is kept is right, the item can be completed, and nothing is left behind.
    private static func judge(_ container: TemporaryContainer, _ moment: String) throws {
        let comment = Comment(rawValue: moment)
        let engine = try container.engine()
        let file: PromotedFile
        if try engine.contains("film") {
            file = try #require(try engine.open("film").value, comment)
        } else {
            let store: UnfinishedStore
            if let partial = try engine.partial(of: "film", for: .userRequested) {
                let replay = Replay()
                guard case .begun(let resumed)? = try engine.resume(partial, replay: { replay.add($0) })
                else {
                    Issue.record("\(moment): gone or refused")
                    return
                }
                #expect(isSame(replay.content, content.prefix(Int(partial.contentBytes))), comment)
                store = resumed
            } else {
                store = try engine.beginDelivery("film", expectedLength: nil, keepingPartial: true)
            }
            try append(content.dropFirst(Int(store.contentBytes)), to: store)
            guard case .delivered(let delivered) = try store.commit() else {
                Issue.record("\(moment): not delivered")
                return
            }
            file = delivered
        }
        #expect(try isSame(Data(contentsOf: file.url), content), comment)
        #expect(try container.files(below: container.documents) == ["film"], comment)
        try engine.discardPartials("other")
        try engine.close()
        try container.engine().close()
        let staging = try container.files(below: container.support.appending(path: "staging"))
        #expect(staging.allSatisfy { $0.hasSuffix(".lock") }, comment)
    }

    /// - Returns: Whether the work had come to its end before that moment.
    private static func run(
        _ number: Int, _ fault: @escaping @Sendable (InterceptingFileSystem) throws(FileSystemError) -> Void,
        where isMeant: @escaping @Sendable (FileSystemTestSupport.Operation) -> Bool
    ) throws -> Bool {
        let container = try TemporaryContainer(in: .fastTemporaryFolder)
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let count = CallCounter()
        let log = OperationLog()
        fileSystem.intercept { [weak fileSystem] operation throws(FileSystemError) in
            guard let fileSystem, isMeant(operation) else { return }
            if count.next() == number {
                log.add(operation)
                try fault(fileSystem)
            }
        }
        attempt(engine)
        fileSystem.intercept { _ in }
        guard let operation = log.operations.first else { return true }
        fileSystem.die()
        try judge(container, "at call \(number), \(operation)")
        return false
    }

    /// Every call that changes something, and every lock.
    @Test func aProcessMayDieAtEveryCall() throws {
        let calls = try Self.calls(every: 5) { number throws in
            try Self.run(number, { $0.die() }, where: { $0.isChange || $0.kind == .lock })
        }
        print("staged partials: killed at \(calls) calls")
        #expect(calls > 50)
    }

    @Test(arguments: [Errno.ioError, .noSpace, .permissionDenied])
    func everyCallMayFailOnce(errno: Errno) throws {
        let calls = try Self.calls(every: 10) { number throws in
            try Self.run(
                number, { _ throws(FileSystemError) in throw FileSystemError("test", errno: errno) },
                where: { $0.canFail(with: errno) })
        }
        print("staged partials: \(errno) at \(calls) calls")
        #expect(calls > 30)
    }

    /// - Parameter isOver: Whether the work had come to its end before the call of that number.
    /// - Returns: How many calls the work has, up to the step.
    private static func calls(every step: Int, until isOver: (Int) throws -> Bool) rethrows -> Int {
        for number in TestRun.numbers(every: step) where try isOver(number) { return number }
        return 0
    }
}

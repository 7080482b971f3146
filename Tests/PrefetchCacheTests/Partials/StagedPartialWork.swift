import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// What ``PartialCrashTests`` does with interrupted items that the user asked for.
enum StagedPartialWork {
    private static let content = noise((3 << 20) + 70_000)

    /// Begins, breaks off, goes on, breaks off, goes on and completes; and then keeps another item, and begins it anew.
    private static func work(_ engine: Engine) throws {
        let first = try engine.beginDelivery("film", expectedLength: nil, keepingPartial: true)
        try first.append(content.prefix(1_500_000))
        _ = try first.suspend()
        for end in [2_500_000, content.count] {
            guard let partial = try engine.partial(of: "film", for: .userRequested),
                case .begun(let store)? = try engine.resume(partial, replay: { _ in })
            else { return }
            try store.append(content[Int(store.contentBytes)..<end])
            if end == content.count { _ = try store.commit() } else { _ = try store.suspend() }
        }
        let other = try engine.beginDelivery("other", expectedLength: 2 << 20, keepingPartial: true)
        try other.append(content.prefix(1_200_000))
        _ = try other.suspend()
        _ = try engine.beginDelivery("other", expectedLength: nil, keepingPartial: true).suspend()
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
                let resumed = try engine.resume(partial, replay: { replay.add($0) })
                store = try #require(resumed?.begun, comment)
                #expect(isSame(replay.content, content.prefix(Int(partial.contentBytes))), comment)
            } else {
                store = try engine.beginDelivery("film", expectedLength: nil, keepingPartial: true)
            }
            try store.append(content.dropFirst(Int(store.contentBytes)))
            let delivered = try #require(try store.commit().delivered)
            file = delivered
        }
        #expect(try isSame(Data(contentsOf: file.url), content), comment)
        #expect(try container.files(below: container.documents) == ["film"], comment)
        try engine.discardPartials("other")
        try engine.close()
        try container.engine().close()
        #expect(try container.staged() == [], comment)
    }

    static let interrupted = InterruptedWork(
        container: { try TemporaryContainer(in: .fastTemporaryFolder) }, work: work, judge: judge)
}

import Foundation
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Newer versions that take the place of what was opened, unless its user has changed it.
@Suite struct ReplacementTests {
    private static let old = prose(40_000)
    private static let new = noise(2_500_000, seed: 8)
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine() }

    @discardableResult
    private func replace(
        _ key: ItemKey = "doc", with content: Data = new, parts: [BundlePart] = [],
        intent: Intent = .userRequested, by engine: Engine? = nil
    ) throws -> StoreOutcome {
        var metadata = ItemMetadata(key, intent: intent)
        metadata.parts = parts
        metadata.validator = Validator(entityTag: "\"2\"")
        switch try (engine ?? self.engine).beginStore(
            metadata, encoding: .automatic, expectedLength: Int64(content.count), keepingPartial: true,
            whenPromoted: .replaceIfUnmodified)
        {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store):
            return try store.commit(appending: content)
        }
    }

    private func opened() throws -> URL {
        try engine.store(Self.old, "doc")
        return try #require(try engine.open("doc").value).url
    }

    @Test(arguments: [Intent.userRequested, .opportunistic])
    func theNewerVersionHasTheNameOfTheOlder(intent: Intent) throws {
        let file = try opened()
        let delivered = try #require(try replace(intent: intent).delivered)
        #expect(delivered.url == file)
        #expect(try Data(contentsOf: file) == Self.new)
        #expect(try container.files(below: container.documents) == ["doc"])
        #expect(try container.staged() == [])
        let next = try container.engine()
        let again = try #require(try next.open("doc").value)
        #expect(again.path == delivered.path && again.provenance?.validator.entityTag == "\"2\"")
        #expect(again.contentBytes == Int64(Self.new.count))
        #expect(try next.isUnmodified("doc"))
        // And once more.
        guard case .delivered = try replace(with: Self.old, by: next) else { Issue.record("refused"); return }
        #expect(try Data(contentsOf: file) == Self.old)
    }

    @Test func withoutAnOpenedFileItIsStoredAsAnyOther() throws {
        #expect(try replace(intent: .opportunistic).isStored)
        #expect(try engine.content("doc") == Self.new)
        #expect(try container.files(below: container.documents) == [])
    }

    @Test func aReaderOfTheOlderVersionKeepsIt() throws {
        let reader = try FileHandle(forReadingFrom: opened())
        try replace()
        #expect(try reader.readToEnd() == Self.old)
    }

    @Test func theFilesOfABundleAreReplacedTogether() throws {
        try engine.store(BundleTests.content, "doc", parts: BundleTests.parts)
        let folder = try #require(try engine.open("doc").value).url
        let parts = [
            BundlePart("index.html", contentBytes: 1_000_000), BundlePart("new", contentBytes: 1_500_000),
        ]
        let delivered = try #require(try replace(parts: parts).delivered)
        #expect(delivered.url == folder && delivered.parts == parts)
        #expect(try container.files(below: folder) == ["index.html", "new"])
        #expect(try engine.content("doc") == Self.new)
        // A file may take the place of a folder.
        guard case .delivered = try replace(with: Self.old) else { Issue.record("refused"); return }
        #expect(try Data(contentsOf: folder) == Self.old)
        #expect(try container.staged() == [])
    }

    enum Change: CaseIterable {
        case written, replaced, moved, deleted, adopted, shared, forgotten
    }

    @Test(arguments: Change.allCases)
    func whatIsNotAsItWasOpenedStays(change: Change) throws {
        let target = container.document("doc")
        if change == .adopted { try target.place(Self.old) }
        let file = try opened()
        let away = container.root.appending(path: "away")
        switch change {
        case .written:
            try file.overwrite(Data("mine".utf8))
        case .replaced: try Data("mine".utf8).write(to: file)
        case .moved: try file.move(to: away)
        case .deleted: try file.remove()
        case .adopted: break
        case .shared:
            let twin = ItemMetadata(key: "twin", destination: .documents("doc", backup: .include))
            try engine.store(Self.old, as: twin)
            #expect(try engine.open("twin").value?.url == file)
        case .forgotten: _ = try engine.forget("doc")
        }
        let before = change == .moved || change == .deleted ? nil : try Data(contentsOf: file)
        let outcome = try replace()
        switch change {
        case .moved, .deleted, .forgotten:
            // There is nothing to replace: it is a delivery as any other.
            guard case .delivered = outcome else { Issue.record("\(outcome)"); return }
        default:
            guard case .refused(.alreadyPromoted) = outcome else { Issue.record("\(outcome)"); return }
        }
        if let before { #expect(try Data(contentsOf: file) == before) }
        #expect(try container.staged() == [])
    }

    /// What the user does between any two calls, in turn: nothing of it is lost.
    @Test(arguments: [Hand.replaces, .writes, .movesAway])
    func theUsersHandIsSafeAtEveryMoment(hand: Hand) throws {
        #expect(try HandedRun.expectNothingBroken(.updates, hand) > 20)
    }
}

import FileSystemTestSupport
import Foundation
import Testing

/// Every input that a fuzzer found worth keeping, and those that are what programs write, through the same
/// functions.
@Suite struct CorpusTests {
    private static let corpora = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Corpora")

    private func inputs(_ target: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: Self.corpora.appending(path: target), includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func everyInputOfTheCorpusHoldsWhatMustHold(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let inputs = try inputs(name)
        #expect(inputs.count > 2)
        for input in inputs {
            #expect(throws: Never.self, "\(input.lastPathComponent)") {
                try target.run([UInt8](Data(contentsOf: input)))
            }
        }
        AttackRecord("fuzzing.corpus-\(name)", of: "inputs", cases: inputs.count).report()
    }

    /// Seeds with a few bytes changed, so that the functions are exercised where there is no fuzzer.
    @Test(arguments: FuzzTarget.all.map(\.name))
    func changedInputsHoldItAsWell(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = try inputs(name).map { try [UInt8](Data(contentsOf: $0)) }
        var generator = SeededGenerator(seed: TestRun.seed)
        var record = AttackRecord("fuzzing.changed-\(name)", of: "inputs")
        // Each input for the catalog is a cache of its own.
        let isSlow = name == "catalog"
        let count = TestRun.count(short: isSlow ? 10 : 500, long: 20_000)
        for _ in 0..<count {
            var input = try #require(seeds.randomElement(using: &generator))
            for _ in 0..<Int.random(in: 1...4, using: &generator) where !input.isEmpty {
                let index = Int.random(in: input.indices, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0 where input.count > 1: input.remove(at: index)
                case 1: input.insert(.random(in: 0...255, using: &generator), at: index)
                default: input[index] = .random(in: 0...255, using: &generator)
                }
            }
            record.cases += 1
            #expect(throws: Never.self, "\(input), seed \(TestRun.seed)") { try target.run(input) }
        }
        record.report()
    }

    @Test func everyCorpusHasItsTarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}

/// Negative controls: what a property is for, it notices.
@Suite struct FuzzPropertyTests {
    @Test(arguments: ["a/b", "..", ".hidden", "a\u{202E}b", "a\nb", "", String(repeating: "a", count: 256)])
    func aBrokenNameIsNoticed(_ name: String) {
        #expect(throws: BrokenProperty.self) { try requireName(name) }
    }

    /// A seal makes a reader take what it would refuse at the door.
    @Test func aSealOpensTheDoor() throws {
        let item = try [UInt8](
            Data(
                contentsOf: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                    .appending(path: "Corpora/item/identity")))
        var bytes = Array(item.dropFirst())
        bytes[bytes.count - 60] ^= 1
        #expect(!isReadable(bytes))
        #expect(isReadable(Seal.item(bytes)))
    }
}

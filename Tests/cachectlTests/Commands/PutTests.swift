import Foundation
import Testing

@Suite struct PutTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func standardInputIsStoredAndReadBack() async throws {
        let content = text + noise(5 << 20, seed: 1)
        try await container.succeed("put", "../feed/1", "-", input: content)
        #expect(try await container.succeed("cat", "../feed/1").output == content)
        let destination = try await container.list().first?["destination"] as? [String: String]
        #expect(destination?["name"] == "_feed_1", "the key, made harmless")
    }

    @Test func aPipeWithOrWithoutANameIsStoredAndReadBack() throws {
        let outcome = try container.shell(
            #"""
            cachectl() { "$CACHECTL" "$@" --container "$CONTAINER"; }
            seq 1 300000 | cachectl put k - >/dev/null && cachectl cat k
            mkfifo p && { seq 1 9 > p & } && cachectl put l p >/dev/null && cachectl cat l
            """#)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.output == Data((Array(1...300_000) + Array(1...9)).map { "\($0)\n" }.joined().utf8))
    }

    /// The kernel says that such a file has 0 bytes.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mountinfo")))
    func aFileThatHidesItsLengthIsStoredWhole() async throws {
        try await container.succeed("put", "k", "/proc/cpuinfo")
        #expect(try await container.succeed("cat", "k").text.hasSuffix("\n\n"))
    }
}

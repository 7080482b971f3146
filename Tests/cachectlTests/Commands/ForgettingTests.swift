import Foundation
import Testing

@testable import cachectl

@Suite struct ForgettingTests {
    let container: Container

    init() throws {
        container = try Container()
        for key in ["one", "two"] {
            try container.succeed(
                "put", key, "-", "--to", "documents", "--name", key, input: text + Data(key.utf8))
            try container.succeed("open", key)
        }
    }

    @Test func aKeyThatIsNamedTwiceIsForgottenOnce() throws {
        #expect(try container.succeed("forget", "one", "one").text.hasPrefix("forgot one; its file stays"))
    }

    @Test func whatWasForgottenIsReportedEvenIfTheNextKeyFails() throws {
        // A folder is no lock.
        let lock = try container.shell(
            #"cd "$CONTAINER/Library/Application Support/PrefetchCache/staging" && "#
                + #"for f in *.lock; do rm "$f"; mkdir "$f"; done; ls"#
        ).text.split(separator: "\n")
        let staging = container.root.appending(path: "Library/Application Support/PrefetchCache/staging")
        // That of the first key comes first in the order of opening.
        var reported: [String] = []
        for name in lock {
            try FileManager.default.removeItem(at: staging.appending(path: String(name)))
            let outcome = try container.cachectl("forget", "one", "two", "--json")
            if outcome.status != 0, outcome.text.contains("forgotten") { reported.append(outcome.text) }
            _ = try container.shell(#"cd '\#(staging.path)' && rm -rf \#(name) && mkdir \#(name)"#)
            if !reported.isEmpty { break }
        }
        #expect(reported.first?.contains(#""one""#) == true)
    }
}

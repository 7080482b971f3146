import Foundation
import Testing

/// Arguments and names that are not UTF-8, which only a shell can give: Foundation repairs them.
@Suite struct ArgumentBytesTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    /// Runs lines of shell. Two pairs of names differ only in a byte that is not UTF-8.
    private func shell(_ lines: String) throws -> Tool.Outcome {
        try container.shell(
            """
            set -eu
            A="$(printf 'a\\377')" B="$(printf 'a\\376')"
            \(lines)
            """)
    }

    // MARK: Text

    @Test(arguments: [
        #"put "$A" -"#, #"cat "$A""#, #"open "$A""#, #"open k "$A""#, #"forget "$A""#,
        #"evict "$A""#, #"evict --source "$A""#, #"inventory --source "$A""#, #"inventory --area "$A""#,
        #"inventory --kind "$A""#, #"put k - --source "$A""#, #"put k - --name "$A""#,
        #"put k - --folder "$A""#, #"put k - --folder="$A""#, #"put k - --to "$A""#,
        #"put k - --expires "$A""#,
        #"migrate --from none --as cached --key-prefix "$A""#,
        #"migrate --from none --as cached --source "$A""#,
        #"fetch "http://127.0.0.1:9/$A""#, #"fetch http://127.0.0.1:9/x --key "$A""#,
        #"fetch http://127.0.0.1:9/x --allow-host "$A""#, #"fetch http://127.0.0.1:9/x --sha256 "$A""#,
        #"configure --budget "$A""#, #"verify --sample "$A""#, #"list --"$A""#, #"list "$A""#, #""$A""#,
        #"help "$A""#,
    ])
    func textThatIsNotUTF8IsRefused(_ arguments: String) throws {
        let outcome = try shell(#""$CACHECTL" --container "$CONTAINER" \#(arguments)"#)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("cachectl: error: "))
        #expect(outcome.errors.contains(#"a\xFF"#))
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func anAppWhoseNameIsNotUTF8IsRefused() throws {
        let outcome = try shell(#""$CACHECTL" list --app "$A""#)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(#"a\xFF"#))
    }

    @Test func jsonShowsTheBytesOfARefusedKey() throws {
        let outcome = try shell(#""$CACHECTL" --json --container "$CONTAINER" put "$A" -"#)
        #expect(outcome.status == 64)
        let failure = try outcome.failure
        #expect(failure.message.contains(#"'a\xFF'"#))
        #expect(failure.message.contains("not UTF-8"))
    }

    // MARK: Paths

    @Test func containersThatDifferInAByteAreTwo() throws {
        let outcome = try shell(
            """
            echo first | "$CACHECTL" put k - --quiet --to documents --name F.txt --container "$A"
            echo second | "$CACHECTL" --container="$B" put k - --quiet
            "$CACHECTL" cat k --container "$A"
            "$CACHECTL" cat k --container "$B"
            (cd "$A" && "$CACHECTL" cat k --container .)
            "$CACHECTL" open k --container "$A" >path
            cat "$(cat path)"
            test "$(cat path)" = "$(pwd)/$A/Documents/F.txt"
            "$CACHECTL" open k --container "$A" >path2
            cmp path path2
            for command in stats capacity verify repair 'list --opened' inventory watch\\ --count\\ 1 'show k'; do
                "$CACHECTL" $command --container "$A" >"of $command" 2>&1
            done
            test -d "$A" -a -d "$B"
            ls -d a* | wc -l
            """)
        #expect(outcome.errors == "")
        #expect(outcome.text == "first\nsecond\nfirst\nfirst\n2\n")
        #expect(outcome.status == 0)
    }

    @Test func jsonHasAllBytesOfAPath() throws {
        let outcome = try shell(
            """
            echo first | "$CACHECTL" put k - --quiet --to documents --name F.txt --container "$A"
            "$CACHECTL" open k --json --container "$A"
            """)
        let object = try #require(
            JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        let path = try #require(object["path"] as? [String: String])
        #expect(path["text"]?.hasSuffix(#"/a\xFF/Documents/F.txt"#) == true)
        let bytes = try #require(path["base64"].flatMap { Data(base64Encoded: $0) })
        let end = Data("/a".utf8) + [0xFF] + Data("/Documents/F.txt".utf8)
        #expect(bytes.suffix(end.count) == end)
    }

    @Test func filesThatDifferInAByteAreTwo() throws {
        let outcome = try shell(
            """
            echo first >"$A"; echo second >"$B"
            "$CACHECTL" put k "$A" --quiet --to documents --container "$CONTAINER"
            "$CACHECTL" put l "$B" --quiet --requested --container "$CONTAINER" >/dev/null
            "$CACHECTL" cat k --container "$CONTAINER"
            "$CACHECTL" cat l --container "$CONTAINER"
            """)
        #expect(outcome.errors == "")
        #expect(outcome.text == "first\nsecond\n")
    }

    @Test func everyFileMayHaveAnyName() throws {
        let outcome = try shell(
            """
            mkdir "$A" "$B"
            echo content >"$B/file"
            echo 'no URL' >"$A/list"
            echo '<plist version="1.0"><dict/></plist>' >"$A/plist"
            "$CACHECTL" report --quiet --html "$A/$B.html" --container "$CONTAINER"
            grep -c DOCTYPE -i "$A/$B.html"
            "$CACHECTL" migrate --quiet --from "$B" --as cached --container "$CONTAINER"
            "$CACHECTL" cat file --container "$CONTAINER"
            "$CACHECTL" inventory --check --quiet --plist "$A/plist" --container "$CONTAINER"
            "$CACHECTL" fetch --from-file "$A/list" --container "$CONTAINER" || echo "exit $?"
            """)
        #expect(outcome.text == "1\ncontent\nexit 64\n")
        #expect(outcome.errors.contains(#"a\xFF/list, line 1: "#))
    }

    @Test func aMissingPathIsNamedByItsBytes() throws {
        for line in [
            #"put k "$A" --container "$CONTAINER""#, #"list --container "$A""#,
            #"migrate --from "$A" --as cached --container "$CONTAINER""#,
            #"report --html "$A/x.html" --container "$CONTAINER""#,
            #"inventory --check --plist "$A" --container "$CONTAINER""#,
        ] {
            let outcome = try shell(#""$CACHECTL" \#(line)"#)
            #expect([66, 73].contains(outcome.status), "\(line)")
            #expect(outcome.errors.contains(#"a\xFF"#), "\(line)")
        }
    }

    // MARK: Names met on the way

    @Test func filesThatAreLeftAreNamedByTheirBytes() throws {
        let outcome = try shell(
            """
            mkdir from; echo first >"from/$A"; echo second >"from/$B"
            "$CACHECTL" migrate --from from --as cached --container "$CONTAINER"
            """)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix(#"left a\xFF: "#) })
        #expect(lines.contains { $0.hasPrefix(#"left a\xFE: "#) })
        #expect(lines.last == "0 files imported, 2 left")
    }

    /// Side files belong to the database of the same bytes.
    @Test func databasesThatDifferInAByteAreTwo() throws {
        let outcome = try shell(
            """
            cd "$CONTAINER/Library/Caches"
            printf 'SQLite format 3\\000' >"$A"; echo x >"$A-wal"; echo x >"$B-wal"
            "$CACHECTL" inventory --check --container "$CONTAINER"
            """)
        #expect(outcome.status == 1)
        let lines = outcome.text.split(separator: "\n").filter { $0.contains("[database-in-caches]") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#"a\xFF: it is a database (2 files, "#) == true)
    }
}

import Foundation
import HTTPTestServer
import Testing

/// A container's history: what is done, and what is printed then. The files of `Golden` are such histories.
///
/// `$ WORDS` is a command, above what it prints: standard error behind `!`, and the exit code unless it is 0. With `$#` all
/// numbers depend on the volume or on SQLite; behind `|`, only lines with a text are kept. `> WORDS` is a command that has to
/// succeed in silence, and `% LINE` one of the shell. `* partial` keeps a part of an item, and `* expired KEY` stores one whose
/// time is over. `@name` is a file beside the container, and `<` gives standard input: a number of bytes, `text`, or the word
/// itself.
struct Transcript {
    private let container: Container
    private let server: HTTPTestServer
    private let isJSON: Bool

    init(isJSON: Bool) throws {
        container = try Container()
        self.isJSON = isJSON
        let resource = TestResource(Data("content".utf8))
        server = try HTTPTestServer { $0.target == "/gone" ? TestAnswer(404) : resource.answer(to: $0) }
    }

    static func file(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Golden/\(name).txt")
    }

    /// Compares line by line, so that a failure shows the line. A file of commands alone is completed.
    func expect(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let file = Self.file(name)
        let history = try String(contentsOf: file, encoding: .utf8)
        let expected = history.split(separator: "\n").map(String.init)
        let lines = try await replay(expected)
        guard expected.contains(where: { !Self.isStep($0) }) else {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
            Issue.record("\(name).txt was completed", sourceLocation: sourceLocation)
            return
        }
        for (line, expected) in zip(lines, expected) where line != expected {
            Issue.record("\(line) instead of \(expected)", sourceLocation: sourceLocation)
        }
        #expect(
            lines.count == expected.count, "\(lines.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    private static func isStep(_ line: String) -> Bool {
        ["$ ", "$# ", "> ", "% ", "* "].contains(where: line.hasPrefix)
    }

    private func replay(_ history: [String]) async throws -> [String] {
        var lines: [String] = []
        for step in history where Self.isStep(step) {
            lines.append(step)
            let sign = step.prefix { $0 != " " }
            let rest = String(step.dropFirst(sign.count + 1))
            switch sign {
            case "*" where rest == "partial": try await container.keepPartial()
            case "*": try await container.putExpired(String(rest.split(separator: " ")[1]))
            case "%":
                let outcome = try container.shell(rest)
                #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(step): \(outcome.errors)")
            case ">":
                let outcome = try await run(rest)
                #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(step): \(outcome.errors)")
            default:
                let parts = rest.components(separatedBy: " | ")
                lines += printed(try await run(parts[0], isJSON ? ["--json"] : []), sign == "$#")
                    .filter { parts.count == 1 || $0.contains(parts[1]) }
            }
        }
        return lines
    }

    private func run(_ line: String, _ more: [String] = []) async throws -> Tool.Outcome {
        var (words, input) = ([String](), Data())
        let folder = container.folder.url.path
        for match in line.matches(of: /'([^']*)'|\S+/) {
            let word = String(match.1 ?? match.0).replacing("CONTAINER", with: container.root.path)
                .replacing("SERVER", with: "\(server.url("/").absoluteString.dropLast())")
            if word.hasPrefix("<") {
                let name = String(word.dropFirst())
                input = name == "text" ? text : Int(name).map { noise($0, seed: 1) } ?? Data(name.utf8)
            } else {
                words.append(word.hasPrefix("@") ? "\(folder)/\(word.dropFirst())" : word)
            }
        }
        return try await container.cachectl(words + more, input: input)
    }

    /// Everything that differs from run to run is written as `#`.
    private func printed(_ outcome: Tool.Outcome, _ hidesNumbers: Bool) -> [String] {
        var lines = outcome.text.split(separator: "\n").map(String.init)
        lines += outcome.errors.split(separator: "\n").map { isJSON ? "\($0)" : "! \($0)" }
        if outcome.status != 0 { lines.append("exit \(outcome.status)") }
        // How often progress is reported depends on the network.
        return lines.filter { !$0.contains(#""event":"progress""#) }.map { line in
            let line = line.replacing("\(server.url("/").absoluteString.dropLast())", with: "SERVER")
                .replacing(container.root.path, with: "CONTAINER")
                .replacing(container.folder.url.path + "/", with: "@")
            return isJSON ? Self.masked(json: line, hidesNumbers) : Self.masked(text: line, hidesNumbers)
        }
    }

    private static let volatile: Set = [
        "storedAtMilliseconds", "keptAtMilliseconds", "expiresAtMilliseconds", "openedAtMilliseconds",
        "lastUseMilliseconds", "timeMilliseconds", "waitMilliseconds", "catalogBytes", "seconds", "lastUse",
        "keptFreeBytes", "chance",
    ]

    private static func masked(json line: String, _ hidesNumbers: Bool) -> String {
        // Prose is for people, and may be improved.
        let prose = #/("(?:message|refusalMessage|explanation|fix|guideline)" ?: ?")(?:[^"\\]|\\.)*"/#
        return line.replacing(prose) { "\($0.1)…\"" }.replacing(#/"(\w+)" ?: ?(-?[0-9.]+)/#) { match in
            let isHidden = hidesNumbers || volatile.contains(String(match.1))
            return isHidden && match.1 != "schemaVersion" ? match.0.dropLast(match.2.count) + "#" : match.0
        }
    }

    private static func masked(text line: String, _ hidesNumbers: Bool) -> String {
        let line = line.replacing(#/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#, with: "TIME")
            .replacing(#/\d{4}-\d\d-\d\d\b/#, with: "DAY")
            .replacing(#/\d+(?:\.\d)? (?:s|min)\b|^seconds .*|^catalog .*/#, with: "#")
            .replacing(#/(\S)   +/#) { "\($0.1)  " }
        return hidesNumbers ? line.replacing(#/\d+(?:\.\d+)?(?: [KMGT]iB\b| B\b)?/#, with: "#") : line
    }
}

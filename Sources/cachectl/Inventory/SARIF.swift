internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// What a check found as SARIF 2.1.0, which code review tools display (docs.oasis-open.org/sarif/sarif/v2.1.0).
enum SARIF {
    /// One log, as text.
    static func log(of findings: [Finding], problems: [FileInventory.Problem]) throws -> String {
        let infos = StorageRules.infos
        let results = findings.map { finding in
            result(of: finding, ruleIndex: infos.firstIndex { $0.name == finding.rule.name })
        }
        // Without an end: a check changes nothing, and its log is the same when it is taken again.
        let invocation: JSONObject = [
            "executionSuccessful": true, "toolExecutionNotifications": problems.map(notification),
        ]
        let driver: JSONObject = ["name": "cachectl", "rules": infos.map(rule)]
        let run: JSONObject = [
            "tool": ["driver": driver] as JSONObject, "invocations": [invocation], "results": results,
        ]
        let log: JSONObject = [
            "$schema":
                "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0", "runs": [run],
        ]
        return try JSON.text(of: log, isPretty: true)
    }

    private static func rule(_ rule: RuleInfo) -> JSONObject {
        let statements = rule.statements.map { "\($0.id): \($0.text)" }
        return [
            "id": rule.name, "shortDescription": message(rule.explanation),
            "help": message(([rule.fix] + statements).joined(separator: "\n")),
            "defaultConfiguration": ["level": rule.severity.rawValue] as JSONObject,
            "properties": ["tags": rule.statements.map(\.id)] as JSONObject,
        ]
    }

    private static func result(of finding: Finding, ruleIndex: Int?) -> JSONObject {
        [
            "ruleId": finding.rule.name, "ruleIndex": ruleIndex, "level": finding.rule.severity.rawValue,
            "message": message("\(finding.path.displayText): \(finding.message). \(finding.rule.fix)"),
            "locations": [location(finding.path)],
            "properties": ["files": finding.files, "bytes": finding.length] as JSONObject,
        ]
    }

    private static func notification(_ problem: FileInventory.Problem) -> JSONObject {
        [
            "level": "warning", "message": message("\(problem.path.displayText): \(problem.reason)"),
            "locations": [location(problem.path)],
        ]
    }

    private static func message(_ text: String) -> JSONObject { ["text": text] }

    private static func location(_ path: FilePath) -> JSONObject {
        ["physicalLocation": ["artifactLocation": ["uri": uri(path)] as JSONObject] as JSONObject]
    }

    /// A reference to a path (RFC 3986): relative as the path is. Every byte is kept, whether or not it is part of text.
    static func uri(_ path: FilePath) -> String {
        let encoded = path.bytes.map { byte -> String in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~/".contains(character) {
                return String(character)
            }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
        }.joined()
        if path.isAbsolute { return "file://" + encoded }
        return encoded.isEmpty ? "." : encoded
    }
}

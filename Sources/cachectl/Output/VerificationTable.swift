internal import PrefetchCache
internal import SystemPackage

/// The result of a verification as text: a line for each file that is not as it was, then the counts.
struct VerificationTable {
    let lines: [String]

    init(_ report: VerificationReport, _ request: VerificationRequest, in place: Place) {
        var findings = TextTable([.left, .left, .left, .left])
        for finding in report.findings.inOrder {
            findings.add([
                finding.verdict.name + (finding.isSetAside ? ", set aside" : ""),
                finding.isPromoted ? "file" : "item",
                (finding.key?.string ?? "?").escapedForTerminal,
                (place.relativePath(finding.location)
                    + (finding.verdict.reason.map { ": \($0)" } ?? "")).escapedForTerminal,
            ])
        }
        var counts = TextTable([.left, .left])
        counts.add(["verified", "\(report.verifiedItems) items, \(report.verifiedFiles) opened files"])
        counts.add([
            "damaged", "\(report.damaged)\(report.setAside > 0 ? ", set aside \(report.setAside)" : "")",
        ])
        counts.add(["missing", "\(report.missing)"])
        counts.add(["modified", "\(report.modified)"])
        if report.newerFormat > 0 { counts.add(["newer format", "\(report.newerFormat)"]) }
        if report.unreadable > 0 { counts.add(["unreadable", "\(report.unreadable)"]) }
        counts.add(["read", Size.text(report.bytes)])
        counts.add(["seconds", report.duration.secondsText])
        if request.sample != nil { counts.add(["seed", "\(request.seed)"]) }
        lines = findings.lines + counts.lines
    }
}

/// The result of a verification as JSON. Names and meanings do not change within one `schemaVersion`.
struct VerificationRecord: Encodable {
    struct Finding: Encodable {
        let verdict: String
        let kind: String
        let key: Nullable<String>
        let path: String
        /// Left out when the verdict says everything.
        let reason: String?
        let setAside: Bool
    }

    let complete: Bool
    let verifiedItems: Int
    let verifiedFiles: Int
    let damaged: Int
    let setAside: Int
    let missing: Int
    let modified: Int
    let newerFormat: Int
    let unreadable: Int
    let readBytes: Int64
    let seconds: Double
    /// Left out when everything was verified.
    let seed: UInt64?
    let findings: [Finding]

    init(_ report: VerificationReport, _ request: VerificationRequest, in place: Place) {
        complete = report.isComplete
        verifiedItems = report.verifiedItems
        verifiedFiles = report.verifiedFiles
        damaged = report.damaged
        setAside = report.setAside
        missing = report.missing
        modified = report.modified
        newerFormat = report.newerFormat
        unreadable = report.unreadable
        readBytes = report.bytes
        seconds = report.duration / .seconds(1)
        seed = request.sample == nil ? nil : request.seed
        findings = report.findings.inOrder.map { finding in
            Finding(
                verdict: finding.verdict.name, kind: finding.isPromoted ? "file" : "item",
                key: Nullable(finding.key?.string), path: place.relativePath(finding.location),
                reason: finding.verdict.reason, setAside: finding.isSetAside)
        }
    }
}

extension [VerificationFinding] {
    /// Sorted by path: the threads that found them have no order.
    fileprivate var inOrder: [VerificationFinding] {
        sorted {
            ($0.isPromoted ? 1 : 0, $0.location.relative.string) < (
                $1.isPromoted ? 1 : 0, $1.location.relative.string
            )
        }
    }
}

extension VerificationFinding.Verdict {
    var name: String {
        switch self {
        case .damaged: "damaged"
        case .modified: "modified"
        case .missing: "missing"
        case .newerFormat: "newerFormat"
        case .unreadable: "unreadable"
        }
    }

    var reason: String? {
        switch self {
        case .damaged(let error): error.description
        case .newerFormat(let version): "format version \(version)"
        case .unreadable(let error): error.description
        case .modified, .missing: nil
        }
    }
}

extension Duration {
    /// The seconds, with two decimals.
    var secondsText: String {
        let hundredths = Int64((self / .seconds(1) * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

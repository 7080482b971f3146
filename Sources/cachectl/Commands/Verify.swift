internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import SystemPackage

struct Verify: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compares the checksums of all items and opened files.",
        discussion: """
            Changes nothing, and nothing counts as used, unless --repair is given: it quarantines damaged items, as \
            they would be when the app reads them. An opened file is the user's: modified files are told from damaged \
            ones, and neither are touched. Ctrl-C ends the command early and prints the findings so far. The exit \
            code is 65 when something is damaged; what is missing or modified is not: the user may do that, and the \
            system may purge items.

            EXAMPLES:
              # Verify every byte
              cachectl verify --app org.example.app
              # A thousand files, the same each time
              cachectl verify --sample 1000 --seed 7 --app org.example.app
            """)

    @Option(help: ArgumentHelp("Verify only this many files, chosen at random.", valueName: "count"))
    var sample: Int?

    @Option(
        help: ArgumentHelp("Seed of --sample: the same seed selects the same files.", valueName: "number"))
    var seed: UInt64?

    @Flag(help: "Quarantine damaged items.")
    var repair = false

    @OptionGroup var shared: SharedOptions

    var handlesSignals: Bool { true }

    var isLooking: Bool { !repair }

    func validate() throws {
        if let sample, sample < 1 { throw ValidationError("--sample must be at least 1") }
        if seed != nil, sample == nil { throw ValidationError("--seed requires --sample") }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let request = VerificationRequest(
            sample: sample, seed: sample == nil ? 0 : seed ?? .random(in: 0...999_999), isRepairing: repair)
        let progress = output.isQuiet ? nil : WorkProgress.onTerminal()
        let work = Task { try await cache.verify(request) { progress?.show($0) } }
        let signals = SignalHandler([SIGINT, SIGTERM]) { _ in work.cancel() }
        let result = await work.result
        signals.end()
        progress?.clear()
        let report = try result.get()
        try output.report(report.json(request, in: place), report.lines(request, in: place))
        if report.damaged > 0 {
            let advice =
                report.damaged == report.quarantined
                ? "they were quarantined until their room is needed; store them again"
                : report.advice
            throw CommandFailure(.damaged, "damaged: \(report.damaged); \(advice)")
        }
        if report.unreadable > 0 {
            let message = "unreadable: \(report.unreadable); see above, and check the volume"
            throw CommandFailure(.inputOutput, message)
        }
        if !report.isComplete {
            let code = ExitCode.ended(by: signals.firstSignal ?? SIGINT)
            throw CommandFailure(code, "interrupted before everything was verified")
        }
    }
}

extension VerificationReport {
    /// What to do about what is damaged and not quarantined.
    fileprivate var advice: String {
        let damaged = findings.filter { finding in
            if case .damaged = finding.verdict { !finding.isQuarantined } else { false }
        }
        return [
            damaged.contains { !$0.isPromoted }
                ? "'cachectl verify --repair' quarantines damaged items" : nil,
            damaged.contains { $0.isPromoted }
                ? "an opened file must be downloaded again: 'cachectl forget' its key, and store it again"
                : nil,
        ].compactMap(\.self).joined(separator: "; ")
    }

    fileprivate func lines(_ request: VerificationRequest, in place: Place) -> [String] {
        var table = TextTable([.left, .left, .left, .left])
        for finding in sortedFindings {
            let (verdict, reason) = finding.verdict.parts
            table.add([
                verdict + (finding.isQuarantined ? ", quarantined" : ""),
                finding.isPromoted ? "file" : "item", finding.key?.string ?? "?",
                place.relativePath(finding.location) + (reason.map { ": \($0)" } ?? ""),
            ])
        }
        let counts = TextTable([
            "verified": "\(Count.text(verifiedItems, "item")), \(Count.text(verifiedFiles, "opened file"))",
            "damaged": "\(damaged)" + (quarantined > 0 ? ", quarantined \(quarantined)" : ""),
            "missing": "\(missing)",
            "modified": "\(modified)",
            "not on device": notOnDevice > 0 ? "\(notOnDevice)" : nil,
            "newer format": newerFormat > 0 ? "\(newerFormat)" : nil,
            "unreadable": unreadable > 0 ? "\(unreadable)" : nil,
            "read": Size.text(bytes),
            "seconds": duration.secondsText,
            "seed": request.sample == nil ? nil : "\(request.seed)",
        ])
        return table.lines + counts.lines
    }

    fileprivate func json(_ request: VerificationRequest, in place: Place) -> JSONObject {
        let findings: [JSONObject] = sortedFindings.map {
            [
                "verdict": $0.verdict.parts.name, "kind": $0.isPromoted ? "file" : "item",
                "key": ($0.key?.string).orNull, "path": place.relativePath($0.location),
                "reason": $0.verdict.parts.reason, "quarantined": $0.isQuarantined,
            ]
        }
        return [
            "complete": isComplete, "verifiedItems": verifiedItems, "verifiedFiles": verifiedFiles,
            "damaged": damaged, "quarantined": quarantined, "missing": missing, "modified": modified,
            "notOnDevice": notOnDevice, "newerFormat": newerFormat, "unreadable": unreadable,
            "readBytes": bytes,
            "seconds": duration / .seconds(1), "seed": request.sample == nil ? nil : request.seed,
            "findings": findings,
        ]
    }

    /// Sorted by path: verification runs in parallel and reports in no particular order.
    private var sortedFindings: [VerificationFinding] {
        func order(_ finding: VerificationFinding) -> (Int, String) {
            (finding.isPromoted ? 1 : 0, finding.location.relative.string)
        }
        return findings.sorted { order($0) < order($1) }
    }
}

extension VerificationFinding.Verdict {
    /// The name in JSON, and the reason if it adds anything to the name.
    fileprivate var parts: (name: String, reason: String?) {
        switch self {
        case .damaged(let error): ("damaged", error.description)
        case .modified: ("modified", nil)
        case .notOnDevice: ("notOnDevice", "iCloud keeps its content; open it to download it")
        case .missing: ("missing", nil)
        case .newerFormat(let version): ("newerFormat", "format version \(version)")
        case .unreadable(let error): ("unreadable", error.description)
        }
    }
}

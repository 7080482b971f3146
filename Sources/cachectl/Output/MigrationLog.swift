internal import FileSystem
internal import PrefetchCache
internal import Synchronization
internal import SystemPackage

/// The outcomes of a migration: a line per file while it runs, or JSON at the end.
final class MigrationLog: Sendable {
    private struct State: Sendable {
        var files: [MigratedFile] = []
        var failure: FileSystemError?
    }

    private let place: Place
    private let isJSON: Bool
    private let isQuiet: Bool
    private let isDryRun: Bool
    private let state = Mutex(State())

    init(in place: Place, isJSON: Bool, isQuiet: Bool, isDryRun: Bool) {
        self.place = place
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        self.isDryRun = isDryRun
    }

    func note(_ file: MigratedFile) {
        let line = isJSON || isUnasked(file) ? nil : line(of: file)
        state.withLock { state in
            state.files.append(file)
            guard let line, state.failure == nil else { return }
            do throws(FileSystemError) {
                try StandardStreams.writeOutput(line + "\n")
            } catch {
                // The output has no reader any more; the migration continues.
                state.failure = error
            }
        }
    }

    /// Of a deed `--quiet` says nothing. What is left was meant to go.
    private func isUnasked(_ file: MigratedFile) -> Bool {
        if case .left = file.outcome { return false }
        return isQuiet && !isDryRun
    }

    private func line(of file: MigratedFile) -> String {
        let path = file.path.escapedForTerminal
        switch file.outcome {
        case .stored(let location): return text("stored", path, location)
        case .moved(let location): return text("moved", path, location)
        case .merged(let location): return text("merged", path, location)
        case .adopted(let location): return text("adopted", path, location)
        case .left(let obstacle): return "left \(path): \(obstacle.description.escapedForTerminal)"
        }
    }

    private func text(_ deed: String, _ path: String, _ location: AreaPath) -> String {
        let target = place.relativePath(location).escapedForTerminal
        return "\(isDryRun ? "would be " : "")\(deed) \(path) → \(target)"
    }

    /// Prints the summary, or the JSON.
    ///
    /// - Throws: A failure when files stay that should not.
    func finish(to output: Output) throws {
        try printSummary(to: output)
        if let failure = CommandFailure(state.withLock { $0.files }) { throw failure }
    }

    func printSummary(to output: Output) throws {
        let (files, failure) = state.withLock { ($0.files, $0.failure) }
        if let failure, failure.errno != .brokenPipe { throw failure }
        if isJSON {
            try output.print(json: MigrationRecord(files, isDryRun: isDryRun, in: place))
        } else {
            let left = files.count { if case .left = $0.outcome { true } else { false } }
            try output.report(
                "\(files.count - left) files\(isDryRun ? " would be imported" : " imported"), \(left) left",
                isDryRun: isDryRun)
        }
    }
}

extension CommandFailure {
    /// `nil` unless something failed or was refused that may succeed another time.
    fileprivate init?(_ files: [MigratedFile]) {
        var worst: CommandFailure?
        for file in files {
            guard case .left(let obstacle) = file.outcome else { continue }
            switch obstacle {
            case .failed(let error):
                self.init(ExitCode(error), "'\(file.path)' and perhaps others: \(error)")
                return
            case .refused(let refusal) where worst == nil:
                worst = CommandFailure(
                    .refused,
                    "'\(file.path)' and perhaps others were refused: \(refusal); 'cachectl capacity' shows why"
                )
            case .changed where worst == nil:
                worst = CommandFailure(
                    .refused, "'\(file.path)' changed meanwhile, or is being migrated; run the command again")
            case .refused, .changed, .notARegularFile, .name, .keyIsTaken, .ours: break
            }
        }
        guard let worst else { return nil }
        self = worst
    }
}

/// A migration as JSON.
private struct MigrationRecord: Encodable {
    struct File: Encodable {
        let path: String
        /// Left out for a file that cannot have one.
        let key: String?
        let outcome: String
        /// Left out for a file that stays.
        let to: String?
        /// Left out for a file that was taken in.
        let reason: String?
    }

    let dryRun: Bool
    let files: [File]

    init(_ files: [MigratedFile], isDryRun: Bool, in place: Place) {
        dryRun = isDryRun
        self.files = files.map { file in
            let (outcome, location, reason): (String, AreaPath?, String?) =
                switch file.outcome {
                case .stored(let location): ("stored", location, nil)
                case .moved(let location): ("moved", location, nil)
                case .merged(let location): ("merged", location, nil)
                case .adopted(let location): ("adopted", location, nil)
                case .left(let obstacle): ("left", nil, obstacle.description)
                }
            return File(
                path: file.path, key: file.key?.string, outcome: outcome,
                to: location.map(place.relativePath), reason: reason)
        }
    }
}

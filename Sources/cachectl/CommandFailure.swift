internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// Why a command failed: an exit code, and a one-line message with advice.
struct CommandFailure: Error, Hashable {
    let code: ExitCode
    /// `nil` when there is nothing to report.
    let message: String?

    init(_ code: ExitCode, _ message: String?) {
        self.code = code
        self.message = message
    }

    /// - Parameter command: Whose help explains it; `nil` for that of the program.
    static func usage(_ message: String, of command: String? = nil) -> CommandFailure {
        let help = command.map { "cachectl help \($0)" } ?? "cachectl --help"
        return CommandFailure(.usage, "\(ArgumentBytes.shown(message)) (see '\(help)')")
    }

    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as CacheError: self.init(error)
        case let error as FileSystemError: self.init(CacheError.fileSystem(error))
        case let error as StorageAreasError: self.init(CacheError.areas(error))
        // The help does not tell how long the item is.
        case is ByteRangeError: self.init(.usage, "\(error)")
        case is FetchTargetError, is ItemKeyError: self = .usage("\(error)")
        case InventoryError.missing, InventoryError.notAFolder: self.init(.notFound, "\(error)")
        case InventoryError.unreadable(_, let errno), AppSettingsError.unreadable(_, let errno),
            ManifestError.unreadable(_, let errno):
            let isMissing = errno == .noSuchFileOrDirectory
            self.init(isMissing ? .notFound : ExitCode(FileSystemError("open", errno: errno)), "\(error)")
        case AppSettingsError.notAPropertyList, ManifestError.invalid: self.init(.damaged, "\(error)")
        default: self.init(.software, "\(error)")
        }
    }

    init(_ error: CacheError) {
        let code = ExitCode(error)
        if case .fileSystem(let error) = error, error.errno == .brokenPipe {
            // A reader such as `head` closes the pipe once it has seen enough, which is not a failure.
            self.init(.success, nil)
        } else if code == .usage {
            self = .usage(error.description)
        } else {
            self.init(code, error.description + Self.advice(on: error))
        }
    }

    init(_ miss: Miss, of key: ItemKey) {
        switch miss {
        case .expired: self.init(.notFound, "the item '\(key)' has expired; store it again")
        case .absent:
            self.init(
                .notFound,
                "there is no item '\(key)'; 'cachectl list' shows what there is, and 'cachectl events --key' what "
                    + "happened to a key")
        case .purged: self.init(.notFound, "the system purged the item '\(key)'; store it again")
        case .damaged(let error):
            self.init(.damaged, "\(error), and was quarantined; store '\(key)' again")
        case .newerFormat(let version):
            self.init(
                .damaged, "the item '\(key)' has the newer format version \(version); update this software")
        }
    }

    init(_ refusal: Refusal, of key: ItemKey) {
        let advice =
            switch refusal {
            case .overBudget:
                "'cachectl capacity' shows how the budget is computed, 'cachectl configure --budget' changes it"
            case .lowPriority:
                "store it with a higher --priority, or change the budget: 'cachectl configure --budget'"
            case .largerThanLargestItem:
                "'cachectl configure --largest' changes that, up to the budget, and 'cachectl configure --budget' the "
                    + "budget"
            case .alreadyPromoted:
                "'cachectl open' names the file, 'cachectl forget' lets the item be stored again"
            case .pressure:
                "make room on the volume, 'cachectl capacity' shows how much, or let the cache fill it further: "
                    + "'cachectl configure --keep-free'"
            case .lowValue:
                "more budget makes room: 'cachectl configure --budget'"
            case .expired: "give it a later --expires, or none"
            case .paused: "'cachectl stats --by source' shows what was opened"
            case .disabled: "'cachectl configure --storing on' switches it on"
            }
        self.init(.refused, "'\(key)' was refused (\(refusal.reason)): \(refusal); \(advice)")
    }

    /// What the user can do, unless the error itself says so.
    static func advice(on error: CacheError) -> String {
        switch error {
        case .movedOrDeleted: "; store it again to get a new one"
        case .fileSystem(let error) where error.isReadOnlyVolume:
            "; items can be read, but not stored, removed or opened for the first time"
        case .fileSystem(let error) where error.isNotPermitted: "; check the owner and the permissions"
        case .fileSystem(let error) where error.isOutOfDescriptors:
            "; end programs that hold files open, or raise the limit: 'ulimit -n'"
        case .fileSystem(let error) where error.isOutOfSpace: "; make room on the volume and try again"
        case .database(name: "catalog", _):
            "; try again; if it keeps failing with nothing else wrong, remove catalog.sqlite, which is rebuilt from the items"
        case .database(name: "record", _):
            "; nothing is stored or opened without it: try again; if it is damaged, and only then, restore "
                + "record.sqlite from a backup"
        default: ""
        }
    }

    /// Reports the failure on standard error: as a line of text, or as one JSON object on one line.
    func report(asJSON isJSON: Bool) {
        // The findings of a check are its output.
        guard code != .success, code != .found else { return }
        guard isJSON else {
            if let message { StandardStreams.writeError("cachectl: error: \(message)") }
            return
        }
        // Only a signal says nothing.
        let message = message ?? "ended by a signal"
        do {
            let record: JSONObject = ["error": code.name, "exitCode": code.rawValue, "message": message]
            StandardStreams.writeErrorVerbatim(try JSON.document(record, isPretty: false) + "\n")
        } catch {
            // Strings and numbers always encode; fall back to plain text just in case.
            StandardStreams.writeError("cachectl: error: \(message)")
        }
    }
}

/// The exit codes: those of `sysexits.h`, and 128 + the signal number as in shells; the article CommandLine says what each means.
enum ExitCode: CInt, CaseIterable {
    case success = 0
    case found = 1
    case usage = 64  // EX_USAGE
    case damaged = 65  // EX_DATAERR
    case notFound = 66  // EX_NOINPUT
    case unavailable = 69  // EX_UNAVAILABLE
    case software = 70  // EX_SOFTWARE
    case cannotCreate = 73  // EX_CANTCREAT
    case inputOutput = 74  // EX_IOERR
    case refused = 75  // EX_TEMPFAIL
    case notPermitted = 77  // EX_NOPERM
    case configuration = 78  // EX_CONFIG
    case hungUp = 129  // 128 + SIGHUP
    case interrupted = 130  // 128 + SIGINT
    case terminated = 143  // 128 + SIGTERM

    static func ended(by signal: CInt) -> ExitCode { ExitCode(rawValue: 128 + signal) ?? .interrupted }

    /// The name in JSON.
    var name: String { "\(self)" }

    /// The exit code for several failures: faults of the machine or the content outweigh possibly transient ones.
    func graver(than other: ExitCode?) -> ExitCode {
        let mildest: [ExitCode?] = [nil, .success, .refused, .unavailable, .damaged]
        let (own, others) = (mildest.firstIndex(of: self) ?? .max, mildest.firstIndex(of: other) ?? .max)
        return own > others ? self : other ?? self
    }

    func exit() -> Never { Foundation.exit(rawValue) }

    init(_ error: FileSystemError) { self = error.isNotPermitted ? .notPermitted : .inputOutput }

    init(_ error: CacheError) {
        self =
            switch error {
            case .fileSystem(let error), .item(.fileSystem(let error)),
                .areas(.containerUnreadable(let error)):
                ExitCode(error)
            case .areas(.invalidApplicationID), .areas(.emptyContainerPath), .noDestination,
                .item(.metadataTooLong), .item(.metadataContainsNUL), .item(.priorityOutOfRange),
                .item(.destinationMissing), .item(.unsuitableURL), .item(.bundle),
                .item(.contentDiffersFromParts), .item(.rangeOutOfBounds), .unsuitableName:
                .usage
            case .item(.damaged), .item(.newerVersion), .item(.contentTooLong): .damaged
            case .item(.purged), .movedOrDeleted, .notARegularFile: .notFound
            case .areas(.notADirectory), .destination, .destinationUnavailable: .cannotCreate
            case .database: .inputOutput
            case .insufficientSpace, .catalogOverBudget, .tooManyPins, .overtaken, .busy, .locked,
                .fileChanged, .notArriving, .otherVersion:
                .refused
            case .notOurs: .notPermitted
            case .areas(.homeMissing), .areas(.userDirectoriesUnreadable), .areas(.workingDirectoryMissing),
                .areas(.areaUnavailable), .areas(.appGroupUnavailable), .newerLedger, .configuration,
                .pathTooLong:
                .configuration
            case .cancelled, .writerIsFinished, .suspended, .closed: .software
            }
    }
}

internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem

/// The exit codes: those of `sysexits.h`, and 128 + the signal number as in shells. See ``meaning`` for each.
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

    /// The exit code for work ended by a signal.
    static func ended(by signal: CInt) -> ExitCode { ExitCode(rawValue: 128 + signal) ?? .interrupted }

    /// The name in JSON.
    var name: String { "\(self)" }

    var meaning: String {
        switch self {
        case .success: "done"
        case .found: "a check found something"
        case .usage: "wrong usage"
        case .damaged: "damaged or newer data"
        case .notFound: "no such item, file or cache"
        case .unavailable: "a server failed"
        case .software: "internal error"
        case .cannotCreate: "a destination cannot be written to"
        case .inputOutput: "input/output error"
        case .refused: "refused for now, too little room, or another process holds a lock"
        case .notPermitted: "not permitted"
        case .configuration: "wrong configuration or environment, or a newer ledger"
        case .hungUp: "the terminal went away"
        case .interrupted: "interrupted"
        case .terminated: "terminated"
        }
    }

    /// The exit code for several failures: faults of the machine or the content outweigh possibly transient ones.
    func graver(than other: ExitCode?) -> ExitCode {
        guard let other else { return self }
        return gravity > other.gravity ? self : other
    }

    private var gravity: Int {
        [.success, .refused, .unavailable, .damaged].firstIndex(of: self) ?? .max
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
                .item(.destinationMissing), .item(.rangeOutOfBounds):
                .usage
            case .item(.damaged), .item(.newerVersion), .item(.contentTooLong): .damaged
            case .item(.purged), .movedOrDeleted, .notARegularFile: .notFound
            case .areas(.notADirectory), .destination, .destinationUnavailable: .cannotCreate
            case .database: .inputOutput
            case .item(.notAdmitted), .insufficientSpace, .catalogOverBudget, .tooManyPins, .overtaken, .busy:
                .refused
            case .notOurs: .notPermitted
            case .areas(.homeMissing), .areas(.userDirectoriesUnreadable), .areas(.workingDirectoryMissing),
                .areas(.areaUnavailable), .newerLedger, .configuration, .pathTooLong:
                .configuration
            case .cancelled, .writerIsFinished, .closed: .software
            }
    }
}

internal import PrefetchCaching
internal import PrefetchFileSystem

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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

    func exit() -> Never {
        #if canImport(Darwin)
            Darwin.exit(rawValue)
        #else
            Glibc.exit(rawValue)
        #endif
    }
}

extension ExitCode {
    init(_ error: CacheError) {
        self =
            switch error {
            case .areas(let error): ExitCode(error)
            case .item(let error): ExitCode(error)
            case .fileSystem(let error): ExitCode(error)
            case .notOurs: .notPermitted
            case .destination, .destinationUnavailable: .cannotCreate
            case .insufficientSpace, .catalogOverBudget, .tooManyPins, .overtaken, .busy: .refused
            case .movedOrDeleted, .notARegularFile: .notFound
            case .noDestination: .usage
            case .database: .inputOutput
            case .newerLedger, .configuration, .pathTooLong: .configuration
            case .cancelled, .writerIsFinished, .closed: .software
            }
    }

    init(_ error: FileSystemError) { self = error.isNotPermitted ? .notPermitted : .inputOutput }

    init(_ error: ItemFormatError) {
        self =
            switch error {
            case .purged: .notFound
            case .damaged, .newerVersion, .contentTooLong: .damaged
            case .metadataTooLong, .metadataContainsNUL, .priorityOutOfRange, .destinationMissing,
                .rangeOutOfBounds:
                .usage
            case .fileSystem(let error): ExitCode(error)
            }
    }

    init(_ error: StorageAreasError) {
        self =
            switch error {
            case .invalidApplicationID, .emptyContainerPath: .usage
            case .notADirectory: .cannotCreate
            case .containerUnreadable(let error): ExitCode(error)
            case .homeMissing, .userDirectoriesUnreadable, .workingDirectoryMissing, .areaUnavailable:
                .configuration
            }
    }

    init(_ miss: Miss) {
        self =
            switch miss {
            case .absent, .expired, .purged: .notFound
            case .damaged, .newerFormat: .damaged
            }
    }
}

extension ExitCode {
    /// The name in JSON.
    var name: String { "\(self)" }

    /// The meaning, in a few words.
    var meaning: String {
        switch self {
        case .success: "done"
        case .found: "a check found something"
        case .usage: "wrong usage"
        case .damaged: "damaged or newer data"
        case .notFound: "no such item, file or cache"
        case .unavailable: "a server failed"
        case .software: "a mistake in the command itself"
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
}

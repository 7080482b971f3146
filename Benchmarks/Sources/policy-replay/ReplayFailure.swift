/// Why a trace was not replayed: an exit code, and a line for people.
struct ReplayFailure: Error, Equatable {
    /// In the vocabulary of `sysexits.h`; wrong usage is told by ArgumentParser, with 64.
    enum Code: Int32 {
        case damaged = 65
        case noInput = 66
        case noGzip = 69
        case inputOutput = 74
    }

    let code: Code
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

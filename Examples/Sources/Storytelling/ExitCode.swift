/// The exit codes of the programs; the numbers are those of `sysexits.h`.
package enum ExitCode {
    case success
    /// A check failed, or a step could not be done.
    case failure
    case wrongUsage
    case noInput
    case interrupted(signalNumber: Int32)

    package var number: Int32 {
        switch self {
        case .success: 0
        case .failure: 1
        case .wrongUsage: 64
        case .noInput: 66
        // The code that a shell reports.
        case .interrupted(let signalNumber): 128 + signalNumber
        }
    }
}

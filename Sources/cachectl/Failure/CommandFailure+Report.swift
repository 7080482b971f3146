extension CommandFailure {
    /// Reports the failure on standard error: as a line of text, or as one JSON object on one line.
    func report(asJSON isJSON: Bool) {
        guard code != .success else { return }
        guard isJSON else {
            if let message { StandardStreams.writeError("cachectl: error: \(message)") }
            return
        }
        do {
            let text = try JSON.document(FailureRecord(self), isPretty: false)
            StandardStreams.writeErrorVerbatim(text + "\n")
        } catch {
            // Texts and numbers can be encoded; if not, the exit code remains.
            StandardStreams.writeError("cachectl: error: \(message ?? code.meaning)")
        }
    }
}

/// A failure as JSON.
private struct FailureRecord: Encodable {
    let error: String
    let exitCode: Int32
    let message: String

    init(_ failure: CommandFailure) {
        error = failure.code.name
        exitCode = failure.code.rawValue
        message = failure.message ?? failure.code.meaning
    }
}

internal import Logging

/// Writes the library's log to standard error, one escaped line per event.
struct StandardErrorLog: LogHandler {
    var logLevel = Logger.Level.error
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        StandardStreams.writeError("cachectl: \(event.level): \(Self.text(of: event, metadata))")
    }

    static func text(of event: LogEvent, _ shared: Logger.Metadata) -> String {
        let metadata = shared.merging(event.metadata ?? [:]) { _, own in own }
        return metadata.sorted { $0.key < $1.key }
            .reduce(event.message.description) { $0 + " \($1.key)=\($1.value)" }
    }
}

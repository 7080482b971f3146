internal import PrefetchCache
internal import Synchronization

/// Shows on a terminal the progress of items that are opened one after the other.
final class OpeningProgress: Sendable {
    private let write: @Sendable (String) -> Void
    private let current = Mutex<(key: ItemKey, line: ProgressLine)?>(nil)

    init(to write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// `nil` when standard error is not a terminal.
    static func onTerminal() -> OpeningProgress? {
        StandardStreams.isErrorTerminal ? OpeningProgress { StandardStreams.writeErrorVerbatim($0) } : nil
    }

    func show(_ progress: OpenProgress) {
        guard progress.totalBytes > ProgressLine.smallestTotal else { return }
        current.withLock { current in
            var line =
                current.flatMap { $0.key == progress.key ? $0.line : nil }
                ?? ProgressLine(label: progress.key.string, total: progress.totalBytes, to: write)
            line.show(progress.completedBytes)
            current = (progress.key, line)
        }
    }

    func clear() {
        current.withLock { current in
            current?.line.clear()
            current = nil
        }
    }
}

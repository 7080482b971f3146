internal import PrefetchDownloader

/// The events of several downloads in one stream, which ends with the last of them.
struct MergedEvents {
    let events: AsyncStream<(index: Int, event: DownloadEvent)>

    init(_ downloads: [Download], withProgress: Bool) {
        let (events, continuation) = AsyncStream.makeStream(of: (index: Int, event: DownloadEvent).self)
        self.events = events
        Task {
            await withTaskGroup(of: Void.self) { group in
                for (index, download) in downloads.enumerated() {
                    group.addTask {
                        for await event in download.events {
                            if case .progress = event, !withProgress { continue }
                            continuation.yield((index, event))
                        }
                    }
                }
            }
            continuation.finish()
        }
    }
}

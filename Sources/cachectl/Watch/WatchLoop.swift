/// Looks, shows and waits, until it is time to end.
///
/// The look, the display, the waiting and the clock are injected.
struct WatchLoop {
    enum End: Hashable {
        /// Ended by the user, the reader or the number of looks.
        case done
        case signal(CInt)
    }

    /// The number of events that are remembered.
    static let mostEvents = 200

    let interval: Duration
    /// The number of looks; `nil` for no end.
    let count: Int?
    let uptime: () -> Duration
    let look: () async throws -> CacheLook
    /// Shows a look, the events since the previous one, and all remembered events.
    let show: (CacheLook, [WatchEvent], _ all: [WatchEvent]) throws -> Void
    /// Shows the last look again.
    let redraw: (CacheLook, _ all: [WatchEvent]) throws -> Void
    let wait: (Duration) -> WatchWake
    /// Stops the process until it is continued.
    let suspend: () throws -> Void

    func run() async throws -> End {
        var all: [WatchEvent] = []
        var last: CacheLook?
        var looks = 0
        while true {
            let start = uptime()
            let current = try await look()
            let events = last.map { WatchEvent.events(from: $0, to: current) } ?? []
            all = (all + events).suffix(Self.mostEvents)
            last = current
            try show(current, events, all)
            looks += 1
            if let count, looks >= count { return .done }
            if let end = try waitForNext(from: start, current, all) { return end }
        }
    }

    /// - Returns: `nil` when it is time for the next look.
    private func waitForNext(from start: Duration, _ current: CacheLook, _ all: [WatchEvent]) throws -> End? {
        // After a look that takes longer than the interval, wait as long as it took.
        let took = uptime() - start
        let end = took > interval ? uptime() + took : start + interval
        while true {
            let left = end - uptime()
            switch wait(max(left, .zero)) {
            case .due: if uptime() >= end { return nil }
            case .quit, .readerGone: return .done
            case .signal(let number): return .signal(number)
            case .resized: try redraw(current, all)
            case .suspend:
                try suspend()
                try redraw(current, all)
            }
        }
    }
}

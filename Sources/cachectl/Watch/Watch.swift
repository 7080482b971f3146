internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

struct Watch: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows the cache live, as other processes use it.",
        discussion: """
            On a terminal it takes the whole screen, until q is pressed or a signal arrives. In a pipe, and with \
            --json, it prints one JSON object per interval, each on one line, and ends when its reader does.

            What another process does becomes visible about a second later. Each sample takes a few short reads, and \
            nothing is locked in between. 'cachectl events' lists in full what happened.

            EXAMPLES:
              # Watch until q is pressed
              cachectl watch --app org.example.app
              # Record a minute as JSON
              cachectl watch --json --interval 10s --count 6 --app org.example.app
            """)

    @Option(
        help: ArgumentHelp("The time between samples: 500ms, 1s, 2m.", valueName: "duration"),
        transform: Interval.init(_:))
    var interval = Interval(.seconds(1))

    @Option(help: ArgumentHelp("End after this many samples.", valueName: "number"))
    var count: Int?

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }
    var handlesSignals: Bool { true }

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        output.stopsOnBrokenPipe = true
        let screen = StandardStreams.isOutputScreen && !output.isJSON ? TerminalScreen() : nil
        let waiting = try Pause(screen)
        try screen?.enter()
        // Before a failure is reported, which is for the terminal's primary screen.
        defer { screen?.leave() }
        var sampler = CacheSampler(cache)
        var recent: [JournalEntry] = []
        for number in 1... {
            let start = ContinuousClock.now
            let sample = try await sampler.sample()
            // Without the time for which a terminal or a pipe takes nothing.
            let pause = Self.pause(interval.duration, after: .now - start)
            // As many as the highest terminal shows.
            recent = (recent + sample.entries).suffix(200)
            let shown = WatchScreen(
                title: "cachectl \(shared.placeName)", interval: interval, sample: sample, recent: recent)
            if let screen {
                try screen.draw(shown)
            } else {
                try output.print(json: sample.json, isPretty: false)
                try output.flush()
            }
            if number == count { return }
            let end = ContinuousClock.now + pause
            while ContinuousClock.now < end {
                switch waiting.wait(for: end - .now) {
                case .due: continue
                case .end: return
                case .signal(SIGTSTP):
                    screen?.leave()
                    // To this very thread, which must not go on before it is stopped.
                    raise(SIGSTOP)
                    try screen?.enter()
                case .signal(SIGWINCH): break
                case .signal(let number): throw CommandFailure(.ended(by: number), nil)
                }
                try screen?.draw(shown)
            }
        }
    }

    /// After a sample that takes longer than the interval, the pause is as long as it took.
    static func pause(_ interval: Duration, after took: Duration) -> Duration {
        took > interval ? took : interval - took
    }
}

internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem

struct Watch: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows the cache live, while an app uses it in another process.",
        discussion: """
            On a terminal it takes the whole screen, until q is pressed or a signal arrives. In a pipe, and with \
            --json, it prints one JSON object per interval, each on one line, and ends when its reader does.

            Events are those of the journal, which 'cachectl events' lists in full; several of one kind within an \
            interval are summed up in one line. What another process does becomes visible about a second later. Each \
            sample takes a few short reads, and nothing is locked in between.

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
        let wait = try WatchWait(screen)
        try screen?.enter()
        defer { screen?.leave() }
        let start = ContinuousClock.now
        var sampler = CacheSampler(cache)
        let isColoured = StandardStreams.isColoured
        let title = "cachectl \(shared.placeName)"
        let draw = { (sample: CacheSample, all: [WatchEvent]) in
            guard let screen else { return }
            let size = screen.size
            let shown = WatchScreen(title: title, interval: interval.duration, sample: sample, events: all)
            try screen.draw(
                shown.lines(size).map { $0.rendered(columns: size.columns, isColoured: isColoured) })
        }
        let loop = WatchLoop(
            interval: interval.duration, count: count, uptime: { start.duration(to: .now) },
            sample: { try await sampler.sample() },
            show: { sample, events, all in
                if screen != nil { return try draw(sample, all) }
                try output.print(json: sample.json(events), isPretty: false)
                try output.flush()
            }, redraw: draw, wait: wait.wait,
            suspend: {
                screen?.leave()
                kill(getpid(), SIGSTOP)
                try screen?.enter()
            })
        let end = try await loop.run()
        // Before a failure is thrown, so that it is reported on the terminal's primary screen.
        screen?.leave()
        if case .signal(let number) = end { throw CommandFailure(.ended(by: number), nil) }
    }
}

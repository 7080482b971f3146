import Storytelling

/// How a player plays what is still being downloaded: over a server on loopback, which any player understands.
///
/// ``PlaybackServer`` is the part to copy, ``Story`` shows it at work with nginx and `curl`.
@main
struct Streaming {
    static func main() async {
        await Demonstration.run(named: "Streaming") { container in
            try await Story(container: container).tell()
        }
    }
}

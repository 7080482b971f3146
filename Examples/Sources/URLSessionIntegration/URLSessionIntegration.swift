import Storytelling

/// How an app with its own `URLSession`, and perhaps a background session, uses the cache.
///
/// ``EpisodeDownloads`` is the part to copy, ``Story`` shows it at work, and this is the program around it.
@main
struct URLSessionIntegration {
    static func main() async {
        await Demonstration.run(named: "URLSessionIntegration") { container in
            try await Story(container: container).tell()
        }
    }
}

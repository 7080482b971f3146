import Storytelling

/// How an app with a `URLSession` of its own, and perhaps a background session, uses the cache.
///
/// ``EpisodeDownloads`` is what an app would copy, ``Story`` shows it at work, and this is the program around it.
@main
struct URLSessionIntegration {
    static func main() async {
        await Demonstration.run(named: "URLSessionIntegration") { container in
            try await Story(container: container).tell()
        }
    }
}

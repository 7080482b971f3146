import Storytelling

/// A podcast app in a minute: prefetch, a broken connection, a launch in the middle, opening, eviction, a refusal.
///
/// ``Story`` uses the libraries; this is the program around it.
@main
struct Podcasts {
    static func main() async {
        await Demonstration.run(named: "Podcasts") { container in
            try await Story(container: container).tell()
        }
    }
}

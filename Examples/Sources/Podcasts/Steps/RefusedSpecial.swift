import MediaServer
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// An episode that is too long for the budget is refused before it is downloaded.
struct RefusedSpecial {
    let player: Player
    let server: MediaServer
    let special: Episode

    func run(_ report: inout Report) async throws {
        report.step("A special of \(special.length.asBytes)")
        let before = try await player.cache.items()
        let outcome = await player.downloader.prefetch(try special.request(from: server)).outcome
        guard case .refused(let refusal, _) = outcome else {
            report.line("\(outcome)")
            return report.check("it is refused", false)
        }
        report.line("Refused: \(refusal).")
        // The user need not be told: they did not ask for it, and can still stream it.
        report.check("nothing went for it", try await player.cache.items() == before)
        let requests = try await server.requests(for: special.path)
        report.check("the server was not even asked for it", requests.isEmpty)
    }
}

import Foundation
import MediaServer
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// The story, from the first step to the last.
struct Story: Sendable {
    let container: URL

    func tell() async throws -> Report {
        let workshop = container.appending(path: "server")
        return try await MediaServer.serving(in: workshop) { server in
            var report = Report()
            var publisher = try Publisher(server, workshop: workshop)
            introduce(publisher, &report)

            // An app uses `.application(id: "org.example.podcasts")` instead.
            let areas = try StorageAreas.container(at: container.appending(path: "app"))
                .excluding(into: "org.example.app")

            try await Player.launched(areas) { player in
                try await FirstLaunch(player: player, publisher: publisher).run(&report)
            }
            try await Player.launched(areas) { player in
                try await SecondLaunch(player: player, publisher: publisher).run(&report)
                try await OpenEpisodes(player: player, publisher: publisher).run(&report)
            }
            try publisher.publishEpisodes()
            try await Player.launched(areas) { player in
                try await NextDay(player: player, publisher: publisher).run(&report)
                let special = try publisher.publishSpecial(in: workshop)
                try await RefusedSpecial(player: player, server: server, special: special).run(&report)
                try await Summary(player: player, server: server).run(&report)
            }
            return report
        }
    }

    private func introduce(_ publisher: Publisher, _ report: inout Report) {
        print("PrefetchCache: podcasts")
        report.step("The cast")
        let files = publisher.shows.flatMap(\.episodes)
        report.line("A server on this machine, three shows, and an app that fetches ahead what its user will")
        report.line("probably want to hear. The episodes are files of this machine:")
        for episode in files {
            report.fact(
                episode.title,
                "\(episode.length.asBytes)  \(episode.original.url.lastPathComponent.printable)")
        }
        if publisher.made > 0 { report.line("(\(publisher.made) of the files had to be made up.)") }
        report.fact("container", container.path(percentEncoded: false).printable)
    }
}

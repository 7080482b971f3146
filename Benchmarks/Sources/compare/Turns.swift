import Contenders
import Foundation

/// Runs contenders against each other so that a machine whose speed drifts hits them alike.
///
/// Within a round all contenders do one job before any does the next, and who goes first changes from
/// round to round. Before each turn the machine writes back what is dirty, so that nobody's `fsync` pays
/// for somebody else's data. A round that is not counted comes first: it warms up, and what the contenders
/// made is checked in it.
struct Turns {
    /// Measured rounds.
    let rounds: Int
    let workspace: Workspace
    let progress: ProgressLine

    /// Gives `count` contenders their turns at one job.
    ///
    /// - Parameter turn: Has a contender do the job, and returns its figure.
    /// - Returns: The figures, in the order of the contenders.
    func take(_ count: Int, in round: Int, _ turn: (Int) async throws -> Double) async throws -> [Double] {
        var figures = [Double](repeating: 0, count: count)
        for index in order(of: count, in: round) {
            sync()
            figures[index] = try await turn(index)
        }
        return figures
    }

    /// An empty folder for each contender, in a part of the volume of its own: files that one has just
    /// deleted must not slow down another one.
    func makeHomes(_ count: Int) throws -> [URL] {
        try (0..<count).map { _ in try workspace.makeFolder() }
    }

    /// Gives back the space of what is done with.
    func empty(_ homes: [URL]) {
        for home in homes { workspace.empty(home) }
    }

    /// Forwards in one round and backwards in the next, each time beginning one further.
    private func order(of count: Int, in round: Int) -> [Int] {
        let rotated = (0..<count).map { ($0 + round / 2) % count }
        return round.isMultiple(of: 2) ? rotated : rotated.reversed()
    }
}

/// A contender still has an item that it was told to evict.
struct NotEvicted: Error, CustomStringConvertible {
    let contender: String
    let item: Int

    var description: String { "\(contender) still has item \(item), which it was to evict" }
}

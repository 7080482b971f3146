/// Finds the command that somebody meant who mistyped its name.
struct CommandSpelling {
    /// The names of all commands.
    let names: [String]

    /// - Throws: A usage failure, when an argument that has to be the name of a command is none.
    func check(_ arguments: [String]) throws(CommandFailure) {
        let name = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        guard let name, !name.hasPrefix("-"), !names.contains(name) else { return }
        let shown = ArgumentBytes.shown(name.prefix(40).description).escapedForTerminal
        let guess = nearest(to: name).map { "; did you mean '\($0)'?" } ?? ""
        throw CommandFailure(.usage, "there is no command '\(shown)'\(guess) (see 'cachectl --help')")
    }

    /// The nearest name, if it is at most two edits away, and fewer than half its length.
    private func nearest(to typed: String) -> String? {
        guard typed.utf8.count < 40 else { return nil }
        let distances = names.map { (name: $0, distance: Self.distance(Array($0.utf8), Array(typed.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= 2 && best.distance * 2 < best.name.utf8.count ? best.name : nil
    }

    /// How many letters have to be added, removed, replaced or swapped with the next one to make one text the other:
    /// the distance of Damerau and Levenshtein, without swaps that overlap. O(mn).
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}

import Foundation

/// The files that the walkthrough works with.
struct SourceFiles: Sendable {
    /// A run should take seconds.
    private static let mostFiles = 300
    private static let mostBytes: Int64 = 64 << 20
    /// No single file should fill the budget.
    private static let longest: Int64 = 2 << 20
    private static let mostFound = 20_000

    let folder: URL
    /// In the order of their paths.
    let files: [SourceFile]

    var bytes: Int64 { files.reduce(0) { $0 + $1.length } }

    /// Chooses files below `folder`: the largest of every kind in turn, because a cache has to cope
    /// with all kinds. The same folder gives the same choice.
    init(in folder: URL, shortest: Int64) {
        self.folder = folder
        let found = FoundFile.all(below: folder, limit: Self.mostFound).filter {
            (shortest...Self.longest).contains($0.facts.length)
        }
        let kinds = Dictionary(grouping: found) { $0.url.pathExtension.lowercased() }
            .sorted { $0.key < $1.key }
            .map { $0.value.sorted { ($1.facts.length, $0.path) < ($0.facts.length, $1.path) } }
        // An app knows which files its user wants to see. The walkthrough does not: every second one.
        files = Self.inTurn(kinds).sorted { $0.path < $1.path }.enumerated().compactMap { index, file in
            SourceFile(file, isDocument: index.isMultiple(of: 2))
        }
    }

    private static func inTurn(_ kinds: [[FoundFile]]) -> [FoundFile] {
        var chosen: [FoundFile] = []
        var bytes: Int64 = 0
        for turn in 0..<(kinds.map(\.count).max() ?? 0) {
            for kind in kinds where turn < kind.count && chosen.count < mostFiles {
                let file = kind[turn]
                guard bytes + file.facts.length <= mostBytes,
                    FileManager.default.isReadableFile(atPath: file.url.path(percentEncoded: false))
                else { continue }
                bytes += file.facts.length
                chosen.append(file)
            }
        }
        return chosen
    }
}

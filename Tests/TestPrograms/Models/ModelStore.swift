internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

/// The process that is killed in the middle of a model.
struct ModelStore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model-store", abstract: "Stores half a model, for 'models'.", shouldDisplay: false)

    @Option var container: String
    @Option var number: Int
    @Option var length: Int64
    @Flag(help: "Its user waits for it.")
    var requested = false

    func run() async throws {
        let notes = Notebook(isChild: true)
        _ = Parent.lines()
        let container = URL(filePath: container, directoryHint: .isDirectory)
        let cache = try await PrefetchCache(areas: .container(at: container))
        let model = Model(number: number, length: length)
        let begun = try await cache.beginStoring(
            model.metadata(requested ? .userRequested : .opportunistic), expectedLength: length,
            keepingPartial: !requested)
        guard case .writer(let writer) = begun else {
            notes.fault("store: \(begun)")
            return
        }
        for index in 0..<model.pieces / 2 {
            if let refusal = try await writer.write(model.piece(index)) { notes.fault("store: \(refusal)") }
        }
        notes.add(.reached("half"))
        // Until it is killed.
        try await Task.sleep(for: .seconds(60))
    }
}

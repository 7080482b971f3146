internal import ArgumentParser
internal import Foundation

struct Models: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stores and opens large models on a volume that is hardly larger than three of them.")

    @OptionGroup var options: ProgramOptions

    /// The bytes of a model, a whole number of mebibytes.
    private var length: Int64 { options.quick ? 64 << 20 : 286 << 20 }
    /// 1 GiB for models of 300 MB.
    private var volumeLength: Int64 { length / 286 * 1024 }

    func run() async throws {
        guard let volume = options.folder else {
            if let obstacle = Scratch.obstacle { try Skipped.end("models", obstacle) }
            try Scratch.runOnVolume(ofLength: volumeLength)
        }
        var verdict = Verdict("models")
        let notes = Notebook(isChild: false)
        try await Scratch.with(in: volume) { container in
            let vitals = try Vitals(notes, container: container)
            try await play(in: container, notes)
            try await vitals.end(idleThreads: 10)
        }
        let done = notes.present
        let acts = ["stored", "opened", "refused", "too little space", "evicted", "hit"].map {
            "\(done[$0]) \($0)"
        }
        verdict.figure("models of \(length) bytes on \(volumeLength); \(acts.joined(separator: ", "))")
        verdict.judge(done, limits: ["read": 2, "launch": 2, "others": 30], threads: 48, descriptors: 64)
        try verdict.end()
    }

    private func play(in container: URL, _ notes: Notebook) async throws {
        try await ModelPlay(in: container, length: length, notes, isBroken: options.broken).run()
    }
}

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
        let tools = ["/usr/sbin/mkfs.ext4", "/usr/bin/unshare", "/usr/bin/mount", "/usr/bin/umount"]
        let missing = tools.filter { !FileManager.default.isExecutableFile(atPath: $0) }
        guard geteuid() == 0, missing.isEmpty else {
            let reason = geteuid() == 0 ? "there is no \(missing.joined(separator: ", "))" : "mounting a volume needs root"
            Output.write("models: skipped: \(reason)")
            throw ExitCode(Skipped.code)
        }
        var verdict = Verdict("models")
        try await withScratchFolder("models") { folder in
            let notes = Notebook(isChild: false)
            var arguments = [
                "models-on-volume", "--folder", folder.path, "--volume-length", "\(volumeLength)",
                "--model-length", "\(length)",
            ]
            if options.broken { arguments.append("--broken") }
            // In a mount namespace of its own: whatever becomes of the process, the volume goes with it.
            let child = try Child(arguments, by: ["/usr/bin/unshare", "--mount", "--propagation", "private"]) {
                notes.add($0)
            }
            if await child.end() != 0 { notes.fault("end: the program on the volume did not end well") }
            let done = notes.present
            let acts = ["stored", "opened", "refused", "too little space", "evicted", "hit"].map { "\(done[$0]) \($0)" }
            verdict.figure("models of \(length) bytes on \(volumeLength); \(acts.joined(separator: ", "))")
            verdict.judge(done, limits: ["read": 2, "launch": 2, "others": 30], threads: 48, descriptors: 64)
        }
        try verdict.end()
    }
}

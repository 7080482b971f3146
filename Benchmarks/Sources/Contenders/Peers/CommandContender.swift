import Foundation

/// What one would do in a shell to keep a large file: `lz4 -1`.
private final class CommandContender: Contender {
    private let source: String
    private let target: String

    init(in directory: URL, for workload: Workload) {
        source = workload.path
        target = directory.appending(path: "item").path(percentEncoded: false)
    }

    func run(_ job: Job, for items: Range<Int>, of workload: Workload) async throws -> Duration {
        guard job == .store else { throw ContenderError("does not \(job)") }
        return try ContinuousClock().measure { try store() }
    }

    /// Foundation's `Process` takes tens of milliseconds for this, which would be measured too.
    private func store() throws {
        let temporary = target + ".new"
        let arguments: [String?] = ["lz4", "-q", "-1", source, temporary, nil]
        let pointers = arguments.map { $0.flatMap { strdup($0) } }
        defer { for pointer in pointers { free(pointer) } }
        var child = pid_t()
        try check(posix_spawnp(&child, "lz4", nil, nil, pointers, nil))
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw FloorError(errno: errno) }
        }
        guard status == 0 else { throw ContenderError("failed with status \(status)") }
        guard rename(temporary, target) == 0 else { throw FloorError(errno: errno) }
    }
}

extension Entry {
    /// `nil` when the command is not installed.
    public static func lz4() -> Entry? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        guard folders.contains(where: { access("\($0)/lz4", X_OK) == 0 }) else { return nil }
        return Entry("lz4", "lz4 -1 to a new file, rename") { CommandContender(in: $0, for: $1) }
    }
}

internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation

/// Where a program works.
enum Scratch {
    private static let tools = [
        "/usr/sbin/mkfs.ext4", "/usr/bin/unshare", "/usr/bin/mount", "/usr/bin/umount",
    ]

    /// What a volume of one's own needs and is missing here; `nil` when it can be had.
    static var obstacle: String? {
        let missing = tools.filter { !FileManager.default.isExecutableFile(atPath: $0) }
        if geteuid() != 0 { return "mounting a volume needs root" }
        return missing.isEmpty ? nil : "there is no \(missing.joined(separator: ", "))"
    }

    /// Runs this program again, with the same arguments, on a new ext4 volume: how the machine's own is made would decide
    /// on the figures. It ends with that process.
    ///
    /// The volume is mounted in a namespace of its own, and is gone with whatever works in it. One on which anything is
    /// still open at the end cannot be unmounted, which is a failure.
    static func runOnVolume(ofLength length: Int64) throws -> Never {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "testprograms-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let script = """
            cd "$1"; shift
            truncate -s \(length) image
            mkfs.ext4 -q -F image
            mkdir volume
            mount -o loop image volume
            rm image
            status=0
            "$@" --folder "$PWD/volume" || status=$?
            umount volume || status=1
            exit $status
            """
        let process = ChildProcess()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments =
            [
                "--mount", "--propagation", "private", "/bin/sh", "-ec", script, "sh", folder.path,
                Child.program,
            ]
            + CommandLine.arguments.dropFirst()
        process.environment = ProcessInfo.processInfo.environment
            .merging(["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]) { $1 }
        try process.run()
        process.waitUntilExit()
        try FileManager.default.removeItem(at: folder)
        exit(process.terminationReason == .exit ? process.terminationStatus : 1)
    }

    /// A new folder, gone afterwards.
    ///
    /// - Parameter parent: Where it is to lie; `nil` for the system's temporary folder.
    static func with<Result>(in parent: String?, _ body: (URL) async throws -> Result) async throws -> Result
    {
        let parent =
            parent.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? FileManager.default.temporaryDirectory
        let folder = parent.resolvingSymlinksInPath()
            .appending(path: "testprograms-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer {
            do {
                try FileManager.default.removeItem(at: folder)
            } catch {
                print("left behind: \(folder.path) (\(error))")
            }
        }
        return try await body(folder)
    }
}

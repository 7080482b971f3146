import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

/// What real backup tools put into their archives, compared with the prediction, file by file.
@Suite final class BackupToolTests: ContainerSuite {
    private static let isComplete = ["tar", "restic", "borg"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }
    private static let hint: Comment = "tar, restic or borg is missing; '.ci/setup --servers' installs them."

    private let work: TemporaryFolder

    /// A used cache, and marks and tags of every kind.
    override init() async throws {
        work = try TemporaryFolder()
        try await super.init()
        try await openExcluded()
        let signature = Data("Signature: 8a477f597d28d172789f06886806bc55\n".utf8)
        let folder = "Library/Application Support/Offline"
        for path in [
            "tagged/a", "tagged/sub/b", "untagged/a", "linked/a", "noDump/a", "noDump/sub/b", "attribute/a",
            "files/noDump", "files/attribute", "files/plain", "files/apple",
            "odd/ *?[x]{a,b}$HOME#\\ é ", "odd/line\nfeed", "odd/-x", "odd/plain",
        ] {
            try write(path, to: "\(folder)/\(path)")
        }
        try container.write(signature, to: "\(folder)/tagged/CACHEDIR.TAG")
        try container.write(signature, to: "\(folder)/tagged/sub/CACHEDIR.TAG")
        try write("Signature: none", to: "\(folder)/untagged/CACHEDIR.TAG")
        try FileManager.default.createSymbolicLink(
            atPath: container.url("\(folder)/linked/CACHEDIR.TAG").path,
            withDestinationPath: "../tagged/CACHEDIR.TAG")
        for path in ["noDump", "files/noDump"] {
            try Command.run("/usr/bin/chattr", "+d", container.url("\(folder)/\(path)").path)
        }
        for path in ["attribute", "files/attribute"] {
            try container.setAttribute("user.xdg.robots.backup", "false".utf8, of: "\(folder)/\(path)")
        }
        try container.setAttribute(
            "user.com.apple.metadata:com_apple_backup_excludeItem", "com.apple.backupd".utf8,
            of: "\(folder)/files/apple")
        for path in ["odd/ *?[x]{a,b}$HOME#\\ é ", "odd/-x"] {
            try container.mark(.exclude, "\(folder)/\(path)")
        }
    }

    /// In a folder of each area, and one that backups include.
    private func openExcluded() async throws {
        let items = [
            ("walk" as ItemKey, Destination.documents("Walk.txt", in: "Walks")),
            ("way", .documents("Way.txt")),
            ("model", .applicationSupport("Model.txt")),
            ("diary", .documents("Diary.txt", in: "Walks", backup: .include)),
        ].map { (ItemMetadata(key: $0, destination: $1), content($0.string)) }
        try await container.open(items, excludingInto: "org.example.app")
    }

    private func predicted(_ tool: BackupTool) throws -> Set<String> {
        let inventory = try container.inventory(for: tool)
        #expect(inventory.problems.isEmpty)
        return Set(inventory.files.filter(\.isBackedUp).map { inventory.path(of: $0).string })
    }

    /// The regular files and links in an archive that a tool makes of the container, relative to it.
    private func archived(_ tool: BackupTool, _ options: [String]) throws -> Set<String> {
        let restored = URL(filePath: work.path.string).appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: restored, withIntermediateDirectories: true)
        let root = container.root.path
        let repository = restored.path + ".repository"
        let script =
            switch tool {
            case .tar: #"tar -C / -cPf "$2" "${@:4}" "$1" && tar -C "$3" -xf "$2""#
            case .restic:
                #"export RESTIC_PASSWORD=x RESTIC_CACHE_DIR="$2.cache"; restic -q -r "$2" init"#
                    + #" && restic -q -r "$2" backup "${@:4}" "$1""#
                    + #" && restic -q -r "$2" restore latest --target "$3""#
            case .borg:
                #"export BORG_BASE_DIR="$2.base" BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes; "#
                    + #"borg init -e none "$2" && borg create "${@:4}" "$2::x" "$1""#
                    + #" && cd "$3" && borg extract "$2::x""#
            case .system, .none: "exit 1"
            }
        try Command.run(
            "/bin/bash", ["-c", script, "archive", root, repository, restored.path] + options)
        let copy = restored.path + root
        var files: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: copy) {
            let type = try FileManager.default.attributesOfItem(atPath: "\(copy)/\(path)")[.type]
            if type as? FileAttributeType != .typeDirectory { files.insert(path) }
        }
        return files
    }

    @Test(
        .enabled(if: isComplete, hint),
        arguments: [
            (BackupTool.tar, ["--exclude-caches"]), (.restic, ["--exclude-caches"]),
            (.borg, ["--exclude-caches", "--keep-exclude-tags", "--exclude-nodump"]),
        ])
    func theArchiveHasWhatWasPredicted(_ tool: BackupTool, _ options: [String]) throws {
        let archived = try archived(tool, options)
        let predicted = try predicted(tool)
        #expect(archived.subtracting(predicted).sorted() == [])
        #expect(predicted.subtracting(archived).sorted() == [])
        let opened = [
            "Documents/org.example.app/Walks/Walk.txt", "Documents/org.example.app/Way.txt",
            "Library/Application Support/PrefetchCache/files/org.example.app/Model.txt",
        ]
        #expect(predicted.isDisjoint(with: opened))
        #expect(predicted.contains("Documents/Walks/Diary.txt"))
        // Otherwise there would be nothing to compare.
        #expect(try predicted != self.predicted(.none))
        #expect(try predicted != self.predicted(.system))
    }

    /// With the list every tool leaves out what the platform does.
    @Test(.enabled(if: isComplete, hint), arguments: [BackupTool.tar, .restic, .borg])
    func withTheListTheArchiveIsThatOfThePlatform(_ tool: BackupTool) throws {
        let list = URL(filePath: work.path.string).appending(path: "list")
        let outcome = try BuiltTool.run(
            ["inventory", "--exclude-list", "--backup-tool", tool.rawValue], on: container)
        #expect(outcome.status == 0)
        try Data(outcome.output.utf8).write(to: list)
        let options =
            switch tool {
            case .tar: ["--anchored", "-X", list.path]
            case .restic: ["--exclude-file", list.path]
            default: ["--exclude-from", list.path]
            }
        let archived = try archived(tool, options)
        let predicted = try predicted(.system)
        #expect(archived.subtracting(predicted).sorted() == [])
        #expect(predicted.subtracting(archived).sorted() == [])
    }

    /// The tools differ, and so must the predictions: one that ignored its tool would pass for none of them.
    @Test func theToolsDiffer() throws {
        let sets = try BackupTool.allCases.map { try predicted($0) }
        #expect(Set(sets).count == BackupTool.allCases.count)
        #expect(try container.inventory(for: .none).files.allSatisfy(\.isBackedUp))
    }
}

import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Ends in the middle, and runs again.
@Suite struct InterruptedMigrationTests {
    private static let contents: [String: Data] = [
        "a.txt": prose(3000), "b/c.bin": noise(20_000), "taken.txt": prose(700), "same.txt": prose(900),
    ]

    private func fill(_ container: TemporaryContainer) throws -> (old: URL, foreign: ForeignFile) {
        let old = container.root.appending(path: "old")
        for (path, content) in Self.contents {
            let file = old.appending(path: path)
            try file.place(content)
        }
        try container.documents.makeFolder()
        let taken = container.document("taken.txt")
        try Data("theirs".utf8).write(to: taken)
        try Self.contents["same.txt"]?.write(to: container.document("same.txt"))
        return (old, try ForeignFile(taken))
    }

    /// How often each content lies in the container, in whatever place and as whatever it can be read.
    private func copies(_ container: TemporaryContainer, _ old: URL) throws -> [String: Int] {
        var copies: [String: Int] = [:]
        for folder in [old, container.documents] {
            for path in try container.files(below: folder) {
                let content = try Data(contentsOf: folder.appending(path: path))
                for (name, wanted) in Self.contents where wanted == content { copies[name, default: 0] += 1 }
            }
        }
        let engine = try container.engine(isRecovering: false)
        for item in try engine.items() {
            let content = try engine.content(item.key)
            for (name, wanted) in Self.contents where wanted == content { copies[name, default: 0] += 1 }
        }
        try engine.close()
        return copies
    }

    @Test(arguments: [MigrationRequest.Role.promoted(to: .documents), .cached(to: .documents)])
    func atEveryChangeOfTheDisk(_ role: MigrationRequest.Role) throws {
        for point in TestRun.numbers(every: 6) {
            let container = try TemporaryContainer(in: .fastTemporaryFolder)
            let (old, foreign) = try fill(container)
            let passed = CallCounter()
            let fileSystem = InterceptingFileSystem()
            let request = MigrationRequest(of: FilePath(old.path), as: role)
            fileSystem.intercept { [unowned fileSystem] operation in
                guard operation.isChange, passed.next() == point else { return }
                fileSystem.die()
            }
            var isKilled = true
            do {
                let engine = try container.engine(fileSystem: fileSystem)
                try Migrator(engine: engine, request: request, isDryRun: false).run { _ in }
                isKilled = passed.next() > point
            } catch {}
            for (name, count) in try copies(container, old) where count < 1 {
                Issue.record("\(name) is lost at \(point)")
            }
            #expect(try copies(container, old).count == Self.contents.count, "at \(point)")

            let next = try container.engine()
            var left: [String] = []
            try Migrator(engine: next, request: request, isDryRun: false).run { file in
                if case .left(let reason) = file.outcome { left.append("\(file.path): \(reason)") }
            }
            #expect(left == [], "at \(point)")
            #expect(try container.files(below: old) == [], "at \(point)")
            for name in Self.contents.keys {
                let key = try ItemKey(name)
                let content =
                    role == .cached(to: .documents)
                    ? try next.content(key)
                    : try Data(contentsOf: #require(try next.open(key).value).url)
                #expect(content == Self.contents[name], "\(name) at \(point)")
            }
            try next.close()
            let expected = role == .cached(to: .documents) ? ["same.txt": 2] : [:]
            for (name, count) in try copies(container, old) {
                #expect(count == expected[name] ?? 1, "\(name) at \(point)")
            }
            #expect(try foreign.isUntouched, "at \(point)")
            guard isKilled else {
                print("interrupted \(role): \(point)")
                return #expect(point > 20)
            }
        }
    }
}

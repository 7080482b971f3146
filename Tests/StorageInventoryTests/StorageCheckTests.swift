import FileSystemTestSupport
import Foundation
import StorageInventory
import Testing

/// A unit test of an app, by the public interface alone.
@Suite final class StorageCheckTests: ContainerSuite {
    private var manifest: URL { container.root.appendingPathExtension("json") }

    private func tidy() {
        guard FileManager.default.fileExists(atPath: manifest.path) else { return }
        #expect(throws: Never.self) { try FileManager.default.removeItem(at: manifest) }
    }

    @Test func nothingIsWrong() async throws {
        let check = try await StorageCheck(of: .container(at: container.root))
        #expect(check.findings.isEmpty, "\(check)")
        #expect(check.problems.isEmpty && check.description == "nothing is wrong")
        #expect(try await StorageCheck(ofContainer: container.root).findings.isEmpty)
    }

    @Test func whatIsWrongIsSaidWithItsFix() async throws {
        try write("log", to: "Documents/app.log")
        let check = try await StorageCheck(of: .container(at: container.root))
        let finding = try #require(check.findings.first)
        #expect(check.findings.count == 1 && finding.rule.name == "log-among-documents")
        #expect(finding.rule.severity == .warning && finding.files == 1 && finding.length == 3)
        #expect(finding.relativePath.hasSuffix("app.log"))
        #expect(check.description == finding.description && finding.description.contains(finding.rule.fix))
    }

    /// As a copy from a device is checked: what is beside the areas counts as well.
    @Test func aManifestExplainsWhatIsStored() async throws {
        defer { tidy() }
        try Data(#"{"version": 1, "entries": []}"#.utf8).write(to: manifest)
        let check = try await StorageCheck(ofContainer: container.root, manifest: manifest)
        #expect(check.findings.allSatisfy { $0.rule.name == "unexplained" })
        #expect(check.findings.contains { $0.relativePath.contains("Library/Preferences") })
    }

    @Test func anExcludedFileMayStayUnusedForAsLongAsIsSaid() async throws {
        let path = "Library/Application Support/Offline/tiles.bin"
        try write("tiles", to: path, days: 60, isMarked: true)
        for (unusedFor, rules) in [
            (nil, ["excluded-unused"]), (Duration.seconds(90 * 86_400), []),
            (.seconds(Int64.max), []),
        ] {
            let check = try await StorageCheck(ofContainer: container.root, unusedFor: unusedFor)
            #expect(check.findings.map(\.rule.name) == rules)
        }
    }

    @Test func whatCannotBeCheckedIsAnError() async throws {
        defer { tidy() }
        let missing = container.root.appending(path: "nowhere")
        await #expect(throws: StorageCheckError.self) { try await StorageCheck(ofContainer: missing) }
        try Data("{".utf8).write(to: manifest)
        for (manifest, plist) in [(manifest, nil), (nil, manifest)] {
            do {
                _ = try await StorageCheck(ofContainer: container.root, manifest: manifest, infoPlist: plist)
                Issue.record("nothing was thrown")
            } catch {
                #expect(error.localizedDescription.contains(self.manifest.lastPathComponent))
            }
        }
    }
}

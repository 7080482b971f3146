import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@Suite struct EntriesTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func anEmptyFolderHasNoEntries() throws {
        #expect(try live.entries(of: folder.descriptor).isEmpty)
    }

    @Test func entriesTellTheirNamesAndKinds() throws {
        try folder.write("", to: "file")
        try folder.write("", to: ".hidden")
        try folder.makeFolder("folder")
        try folder.link("link", to: "nowhere")
        let entries = try live.entries(of: folder.descriptor)
        let kinds = Dictionary(uniqueKeysWithValues: entries.map { ($0.name.string, $0.kind) })
        let expected: [String: FileAttributes.Kind] = [
            "file": .regular, ".hidden": .regular, "folder": .directory, "link": .symbolicLink,
        ]
        #expect(Set(kinds.keys) == Set(expected.keys))
        for (name, kind) in kinds {
            // Not every file system says it for free.
            #expect(kind == nil || kind == expected[name])
        }
    }

    @Test func aSecondListingOfTheSameDescriptorIsCompleteToo() throws {
        let names = Set((0..<500).map { "file \($0)" })
        for name in names { try folder.write("", to: name) }
        for _ in 0..<2 {
            #expect(Set(try live.entries(of: folder.descriptor).map(\.name.string)) == names)
        }
    }

    @Test func aNameOf255BytesIsListedWhole() throws {
        let name = String(repeating: "n", count: 255)
        try folder.write("", to: name)
        #expect(try live.entries(of: folder.descriptor).map(\.name.string) == [name])
    }

    #if !canImport(Darwin)
        @Test func aNameThatIsNoUTF8CanBeListedAndRemoved() throws {
            let name = FilePath(platformString: [0x66, -1, 0x67, 0])
            try live.withFile(name, in: folder.descriptor, .createNew(.ownerReadWrite)) { _ in }
            let entry = try #require(try live.entries(of: folder.descriptor).first)
            #expect(FilePath(root: nil, [entry.name]) == name)
            try live.unlink(FilePath(root: nil, [entry.name]), in: folder.descriptor)
            #expect(try folder.names().isEmpty)
        }
    #endif

    @Test func aFileHasNoEntries() throws {
        let file = try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        #expect(throws: FileSystemError("open", path: ".", errno: .notDirectory)) {
            try live.entries(of: file)
        }
    }
}

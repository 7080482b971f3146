import PrefetchStorageAreas
import Testing

@Suite struct FolderPathTests {
    @Test(arguments: [
        ("Podcasts", ["Podcasts"]), ("Podcasts/Daily", ["Podcasts", "Daily"]),
        ("1/2/3/4/5/6/7/8", ["1", "2", "3", "4", "5", "6", "7", "8"]), ("a b/ c", ["a b", " c"]),
        ("Größe/e\u{301}", ["Größe", "e\u{301}"]),
    ])
    func theComponentsAreNames(_ string: String, _ components: [String]) throws {
        let folder = try FolderPath(string)
        #expect(folder.components.map(\.string) == components)
        #expect(folder.string.unicodeScalars.elementsEqual(string.unicodeScalars))
        #expect(try FolderPath(components.map { try FileName($0) }) == folder)
    }

    @Test(arguments: [
        ("", FolderPathError.empty), ("/", .component(.empty)), ("/a", .component(.empty)),
        ("a/", .component(.empty)), ("a//b", .component(.empty)), (".", .component(.leadingDot)),
        ("..", .component(.leadingDot)), ("a/..", .component(.leadingDot)),
        ("../a", .component(.leadingDot)), ("a/.b", .component(.leadingDot)),
        ("a\\b", .component(.separator)), ("a/\0", .component(.controlCharacter)),
        ("a/ ", .component(.blank)), ("a\u{2028}", .component(.lineSeparator)),
        ("a/\u{202E}b", .component(.bidirectionalControl)),
        // One character to Swift, a separator and a mark to the kernel.
        ("../\u{301}a", .component(.leadingDot)),
        ("1/2/3/4/5/6/7/8/9", .tooDeep(components: 9)),
        (String(repeating: "a/", count: 400) + "a", .tooDeep(components: 401)),
        (String(repeating: "a", count: 256), .component(.tooLong(bytes: 256))),
    ])
    func whatIsNoFolderIsRefused(_ string: String, _ error: FolderPathError) {
        #expect(throws: error) { try FolderPath(string) }
    }

    @Test func theWholePathIsBounded() throws {
        let long = try FileName(String(repeating: "a", count: 255))
        #expect(try FolderPath([long, long]).string.utf8.count == 511)
        #expect(throws: FolderPathError.tooLong(bytes: 513)) { try FolderPath([long, long, "b"]) }
        #expect(throws: FolderPathError.empty) { try FolderPath([]) }
        #expect(throws: FolderPathError.tooDeep(components: 9)) {
            try FolderPath(Array(repeating: "a", count: 9))
        }
    }

    @Test func foldersAreEqualWhenTheirBytesAre() throws {
        #expect(FolderPath("\u{E9}") != FolderPath("e\u{301}"))
        let spelled: FolderPath = "a/b"
        let listed = try FolderPath(["a", "b"])
        #expect(spelled == listed)
    }

    @Test func aDestinationHasOneOrNone() {
        #expect(Destination.documents("n").folder == nil)
        #expect(Destination.documents("n", in: "a/b").folder?.string == "a/b")
        #expect(
            Destination(area: .applicationSupport, name: "n", in: "a", backup: .exclude)
                == .applicationSupport("n", in: "a", backup: .exclude))
        #expect(Destination.documents("n", in: "a") != .documents("n"))
    }
}

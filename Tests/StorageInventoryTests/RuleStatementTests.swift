import Foundation
import PrefetchCaching
import SystemPackage
import Testing

@testable import StorageInventory

/// Each statement of the guidelines that a file can break, broken by a file.
@Suite struct RuleStatementTests {
    struct Fixture: Sendable, CustomTestStringConvertible {
        let statement: Statement
        let rule: String
        let path: String
        let plant: @Sendable (SampleContainer) throws -> Void

        init(
            _ statement: Statement, _ rule: String, at path: String,
            _ plant: @escaping @Sendable (SampleContainer) throws -> Void
        ) {
            self.statement = statement
            self.rule = rule
            self.path = path
            self.plant = plant
        }

        /// One that only has to be there.
        init(_ statement: Statement, _ rule: String, _ path: String, _ text: String = "x") {
            self.init(statement, rule, at: path) { try $0.write(Data(text.utf8), to: path) }
        }

        var testDescription: String { "\(statement.id) \(rule)" }
    }

    private static let support = "Library/Application Support"
    private static let iCloud = "Library/Mobile Documents"

    private static let fixtures: [Fixture] = [
        Fixture(.t6, "forgotten", at: "\(support)/com.oldsdk.Analytics") {
            for name in ["queue.bin", "sessions/1.bin", "Cache/2.bin"] {
                let path = "\(support)/com.oldsdk.Analytics/\(name)"
                try $0.write(Data(name.utf8), to: path)
                try $0.age(path, days: 200)
            }
        },
        Fixture(.t7, "document-in-support", "\(support)/Library/Book.epub"),
        Fixture(.t8, "user-data-excluded", at: "Documents/Tax.numbers") {
            try $0.write(Data("sums".utf8), to: "Documents/Tax.numbers")
            try $0.mark(.exclude, "Documents/Tax.numbers")
        },
        Fixture(.t9, "documents-not-in-cloud", at: "Documents") {
            try $0.write(Data("shared".utf8), to: "\(iCloud)/Shared.pages")
        },
        Fixture(.t10, "machine-name-among-documents", at: "\(iCloud)/\(uuid).jpg") {
            try $0.removeDocuments()
            try $0.write(Data("photo".utf8), to: "\(iCloud)/\(uuid).jpg")
        },
        Fixture(.t13, "settings-among-documents", "Documents/org.example.app.plist"),
        Fixture(.t18, "log-among-documents", "Documents/Logs/app.log.1"),
        Fixture(.t19, "no-document", at: "Documents/Library.realm") {
            let header = [UInt8](repeating: 0, count: 16) + Array("T-DB".utf8)
            try $0.write(Data(header), to: "Documents/Library.realm")
        },
        Fixture(.t24, "cached-data-backed-up", at: "\(support)/Player/Cache") {
            try $0.write(Data("ahead".utf8), to: "\(support)/Player/Cache/segment")
        },
        Fixture(.t25, "missing-cache-tag", at: "Library/Caches") {
            try FileManager.default.removeItem(at: $0.url("Library/Caches/CACHEDIR.TAG"))
        },
        Fixture(.t28, "left-in-tmp", at: "tmp/upload.zip") {
            try $0.write(Data("zipped".utf8), to: "tmp/upload.zip")
            try $0.age("tmp/upload.zip", days: 2)
        },
        Fixture(.t29, "left-in-tmp", at: "tmp/render") {
            for frame in 1...3 {
                try $0.write(Data("frame \(frame)".utf8), to: "tmp/render/\(frame).raw")
                try $0.age("tmp/render/\(frame).raw", days: 30)
            }
        },
        Fixture(.t31, "document-in-support", "\(support)/Projects/Logo.psd"),
        Fixture(.t33, "old-format", at: "Library/Caches") { try $0.setCatalogVersion(3) },
        Fixture(.t34, "old-format", at: "Library/Caches") { try $0.setCatalogVersion(4) },
        Fixture(.t35, "diverged-copies", at: "Documents/Essay.md") {
            try $0.removeDocuments()
            try $0.write(Data("draft".utf8), to: "Documents/Essay.md")
            try $0.write(Data("final".utf8), to: "\(iCloud)/Essay.md")
        },
        Fixture(.t36, "documents-not-in-cloud", at: "Documents") {
            try $0.removeDocuments()
            try $0.write(Data("chapter".utf8), to: "Documents/Novel/1.docx")
            try $0.write(Data("chapter 2".utf8), to: "\(iCloud)/2.docx")
        },
        Fixture(.t43, "forgotten", at: "\(support)/downloads-v1.bin") {
            try $0.write(Data("left behind".utf8), to: "\(support)/downloads-v1.bin")
            try $0.age("\(support)/downloads-v1.bin", days: 400)
        },
        Fixture(.g0b, "large-download-backed-up", at: "\(support)/Models/voice.onnx") {
            try $0.write(length: 20 << 20, to: "\(support)/Models/voice.onnx")
        },
        Fixture(.g1, "no-document", "Documents/Episode 7.mp3.part"),
        Fixture(.g2, "cached-data-backed-up", at: "\(support)/Map/cache") {
            try $0.write(Data("tile".utf8), to: "\(support)/Map/cache/7/64/42.png")
        },
        Fixture(.g3, "left-in-tmp", at: "tmp/scan.tiff") {
            try $0.write(Data("scan".utf8), to: "tmp/scan.tiff")
            try $0.age("tmp/scan.tiff", days: 3)
        },
        Fixture(.g4b, "user-data-excluded", at: "\(support)/Drawings/House.procreate") {
            try $0.write(Data("strokes".utf8), to: "\(support)/Drawings/House.procreate")
            try $0.mark(.exclude, "\(support)/Drawings/House.procreate")
        },
        Fixture(.g4e, "excluded-unused", at: "Documents/Holiday.mov") {
            try $0.write(Data("film".utf8), to: "Documents/Holiday.mov")
            try $0.mark(.exclude, "Documents/Holiday.mov")
            try $0.age("Documents/Holiday.mov", days: 40)
        },
        Fixture(.b1, "large-download-backed-up", at: "Documents/Lecture.mp4") {
            try $0.write(length: 17 << 20, to: "Documents/Lecture.mp4")
            let address = "https://example.org/1.mp4"
            try $0.setAttribute("user.xdg.origin.url", address.utf8, of: "Documents/Lecture.mp4")
        },
        Fixture(.b2, "thumbnails-outside-caches", "Documents/Photos/IMG_1_thumb.jpg"),
        Fixture(.b3, "thumbnails-outside-caches", at: "\(support)/Thumbnails") {
            try $0.write(Data("one".utf8), to: "\(support)/Thumbnails/1")
            try $0.write(Data("two".utf8), to: "\(support)/Thumbnails/large/2")
        },
        Fixture(.b4, "thumbnails-outside-caches", "Library/Gallery/cover-thumbnail.png"),
        Fixture(.b5, "database-in-caches", "Library/Caches/Notes.sqlite", "SQLite format 3\0"),
        Fixture(
            .b6, "absolute-path", "\(support)/recent.json",
            #"["/var/mobile/Containers/Data/Application/0A/Documents/a.txt"]"#),
        Fixture(.b7, "left-in-tmp", at: "tmp/export") {
            try $0.write(Data("exported".utf8), to: "tmp/export/album/1.wav")
            try $0.age("tmp/export/album/1.wav", days: 2)
        },
        Fixture(.b8, "user-data-purgeable", "Library/Caches/Drafts/Thesis.docx"),
        Fixture(.b9, "large-download-backed-up", at: "\(support)/Films/Heat.m4v") {
            try $0.write(length: 16 << 20, to: "\(support)/Films/Heat.m4v")
        },
        Fixture(.b10, "user-data-excluded", at: "Documents/Comics/Akira.cbz") {
            try $0.write(Data("pages".utf8), to: "Documents/Comics/Akira.cbz")
            try $0.mark(.exclude, "Documents/Comics/Akira.cbz")
        },
        Fixture(.b13, "excluded-one-by-one", at: "\(support)/Regions") {
            for region in ["alps", "andes", "atlas", "urals"] {
                try $0.write(Data(region.utf8), to: "\(support)/Regions/\(region).map")
                try $0.mark(.exclude, "\(support)/Regions/\(region).map")
            }
        },
        Fixture(.b14, "excluded-folder-name", at: "Library/Offline") {
            try $0.write(Data("region".utf8), to: "Library/Offline/1.map")
            try $0.mark(.exclude, "Library/Offline")
        },
    ]

    private static let uuid = "0F8FAD5B-D9CB-469F-A165-70867728950E"

    /// What is said of the app's code, its `Info.plist`, its developer or the system.
    private static let notAboutFiles: Set<Statement> = [
        .t1, .t2, .t3, .t4, .t5, .t11, .t12, .t14, .t15, .t16, .t17, .t20, .t21, .t22, .t23, .t26, .t27, .t30,
        .t32, .t37, .t38, .t39, .t40, .t41, .t42, .g0a, .g4a, .g4c, .g4d, .b11, .b12,
    ]

    let container: SampleContainer

    init() async throws {
        container = try SampleContainer()
        try await container.use()
    }

    @Test(arguments: fixtures) func aBrokenStatementIsFoundOnceUnderItsRule(_ fixture: Fixture) throws {
        try fixture.plant(container)
        let found = try container.findings()
        #expect(found.map(\.rule.name) == [fixture.rule])
        #expect(found.map(\.path.string) == [fixture.path])
        #expect(found.first?.rule.statements.contains(fixture.statement) == true)
    }

    @Test func everyStatementThatAFileCanBreakIsBroken() {
        let aboutFiles = Set(Statement.allCases).subtracting(Self.notAboutFiles)
        #expect(Set(Self.fixtures.map(\.statement)) == aboutFiles)
    }

    @Test func everyRuleThatCarriesOutAStatementOfFilesHasAFixture() {
        let said = Set(StorageRules.infos.flatMap(\.statements)).subtracting(Self.notAboutFiles)
        #expect(said == Set(Self.fixtures.map(\.statement)))
    }

    @Test func statementsAreThoseOfTheGuidelines() {
        let talk = (1...43).map { "T\($0)" }
        let guidelines = ["G0a", "G0b", "G1", "G2", "G3", "G4a", "G4b", "G4c", "G4d", "G4e"]
        let article = (1...14).map { "B\($0)" }
        #expect(Statement.allCases.map(\.id) == talk + guidelines + article)
        #expect(Statement.allCases.allSatisfy { $0.text.hasSuffix(".") || $0.text.hasSuffix("?") })
    }
}

extension SampleContainer {
    fileprivate func removeDocuments() throws {
        try FileManager.default.removeItem(at: url("Documents/letter.txt"))
    }
}

import FileSystemTestSupport
import Foundation
import Logging
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// `configuration.json`: what is missing has its default, and what cannot be understood is an error.
@Suite struct ConfigurationTests {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    private var file: URL { container.support.appending(path: "configuration.json") }

    private func read(_ json: String) throws -> CacheConfiguration {
        let engine = try container.engine()
        try Data(json.utf8).write(to: file)
        return try engine.configuration.current()
    }

    private static let all: [CacheConfiguration] = {
        var full = CacheConfiguration(budget: .automaticUpTo(.gibibytes(2)))
        full.largestItem = .mebibytes(100)
        full.isStoringEnabled = false
        full.evictionPolicy = .value
        full.capacityModel.reservePerMille = 200
        return [CacheConfiguration(), CacheConfiguration(budget: .fixed(.bytes(0))), full]
    }()

    @Test(arguments: all)
    func whatIsWrittenIsReadAgain(_ configuration: CacheConfiguration) throws {
        let engine = try container.engine()
        try engine.configure(configuration)
        #expect(try engine.configuration.current() == configuration)
        #expect(try container.engine().configuration.current() == configuration)
    }

    @Test func whatIsMissingHasItsDefault() throws {
        #expect(try read("{}") == CacheConfiguration())
        let json = #"{"schemaVersion": 1, "budgetBytes": 8388608}"#
        #expect(try read(json) == CacheConfiguration(budget: .fixed(.mebibytes(8))))
        var capped = CacheConfiguration()
        capped.capacityModel.cap = 1000
        #expect(try read(#"{"capacityModel": {"cap": 1000}}"#) == capped)
    }

    @Test(arguments: [
        (#"{"budgetBytes": -1}"#, "budgetBytes is -1; it must not be negative"),
        (#"{"budgetBytes": 1, "budgetCapBytes": 1}"#, "both budgetBytes"),
        (#"{"evictionPolicy": "random"}"#, "it must be one of lru, value"),
        (#"{"capacityModel": {"reservePerMille": 2000}}"#, "capacityModel: "),
        (#"{"schemaVersion": 2}"#, "update the software"),
        (#"{"schemaVersion": 2, "later": 1}"#, "update the software"),
        (#"{"budgetByte": 1000}"#, "it has 'budgetByte', which is none of schemaVersion, budgetBytes"),
        (#"{"capacityModel": {"caps": 1000}}"#, "capacityModel has 'caps', which is none of lowPerMille"),
        (#"{"largestItemBytes": "much"}"#, "correct it, or remove it"),
        ("[]", "correct it, or remove it"),
        ("", "correct it, or remove it"),
    ])
    func whatCannotBeUnderstoodIsAnErrorThatSaysWhatToDo(json: String, message: String) throws {
        let error = try #require(throws: CacheError.self) { try read(json) }
        guard case .configuration(let text) = error else { throw error }
        #expect(text.hasPrefix("configuration.json cannot be "))
        #expect(text.contains(message), "\(text)")
    }

    @Test(arguments: ["link", "folder", "long"])
    func whatIsNoFileOfOursIsAnErrorThatSaysWhatToDo(what: String) throws {
        let engine = try container.engine()
        switch what {
        case "link":
            let other = container.root.appending(path: "other.json")
            try Data("{}".utf8).write(to: other)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
        case "folder": try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        default: try Data(repeating: UInt8(ascii: " "), count: 70_000).write(to: file)
        }
        let error = try #require(throws: CacheError.self) { try engine.configuration.current() }
        guard case .configuration(let text) = error else { throw error }
        #expect(text.hasPrefix("configuration.json is "))
        #expect(text.contains("remove it to use the defaults"), "\(text)")
    }

    @Test func whatCouldNotBeReadAgainIsNotWritten() throws {
        let engine = try container.engine()
        try engine.configure(CacheConfiguration(budget: .fixed(.mebibytes(8))))
        let before = try Data(contentsOf: file)
        var configuration = CacheConfiguration()
        configuration.capacityModel.lowLeavePerMille = 10
        for configure in [
            { try engine.configure(configuration) },
            { _ = try engine.configure { $0.capacityModel.lowLeavePerMille = 10 } },
        ] {
            let error = try #require(throws: CacheError.self, performing: configure)
            guard case .configuration(let text) = error else { throw error }
            #expect(text.hasPrefix("capacityModel: "))
            #expect(try Data(contentsOf: file) == before)
        }
        #expect(try container.engine().store(noise(100), "key").isStored)
    }

    @Test func changesOfSeveralProcessesAreAllKept() throws {
        // With a clock that stands still, nobody gives up waiting.
        let engines = try (0..<4).map { _ in try container.engine(now: { 1_700_000_000_000 }) }
        DispatchQueue.concurrentPerform(iterations: 80) { number in
            do {
                _ = try engines[number % 4].configure { configuration in
                    configuration.capacityModel.cap -= 1
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try container.engine().configuration.current().capacityModel.cap == CapacityModel().cap - 80)
        #expect(
            try container.files(below: container.support).filter { $0.hasPrefix(".configuration") }.isEmpty)
    }

    @Test func whoChangesOneSettingLeavesWhatAnotherHasSetMeanwhile() throws {
        let (app, operating) = (try container.engine(), try container.engine())
        let old = try app.configuration.current()
        try operating.configure(CacheConfiguration(budget: .fixed(.mebibytes(8))))
        let new = try app.configure { $0.isStoringEnabled = false }
        #expect(old.budget == .automatic)
        #expect(new.budget == .fixed(.mebibytes(8)))
        #expect(try operating.configuration.current() == new)
    }

    @Test func aChangeThatIsWrittenHoldsThoughTheCacheCannotBeTrimmed() throws {
        let fileSystem = InterceptingFileSystem()
        let log = MessageLog()
        var environment = try container.engine(fileSystem: fileSystem).environment
        environment.logger = Logger(label: "test", factory: { _ in log })
        let engine = try Engine(areas: container.areas(), environment: environment)
        try engine.store(noise(100), "key")
        try engine.flush()
        fileSystem.intercept { operation throws(FileSystemError) in
            if operation.kind == .entries { throw FileSystemError("readdir", errno: .ioError) }
        }
        try engine.configure(CacheConfiguration(budget: .fixed(.bytes(0))))
        #expect(log.errors.contains { $0.contains("not trimmed") })
        fileSystem.intercept { _ in }
        #expect(try engine.configuration.current().budget == .fixed(.bytes(0)))
        try engine.maintain()
        #expect(try engine.statistics().items == 0)
    }

    @Test func theOperatorsWordHoldsForTheNextStore() throws {
        let app = try container.engine()
        try app.store(noise(100), "before")
        try app.maintain()
        var configuration = CacheConfiguration()
        configuration.isStoringEnabled = false
        try container.engine().configure(configuration)
        #expect(try app.store(noise(100), "after") == .refused(.disabled))
        #expect(try app.content("before") != nil)
        #expect(try app.open("before").value != nil)
        #expect(try app.statistics().refusals == ["disabled": 1])
    }

    @Test func theLargestItemIsHalfTheBudgetUnlessConfigured() {
        var configuration = CacheConfiguration()
        #expect(configuration.largestItemBytes(in: 1001) == 500)
        configuration.largestItem = .bytes(700)
        #expect(configuration.largestItemBytes(in: 1001) == 700)
        #expect(configuration.largestItemBytes(in: 600) == 600)
    }
}

/// Keeps the errors that are logged.
private final class MessageLog: LogHandler {
    private let seen = Mutex<[String]>([])
    var errors: [String] { seen.withLock { $0 } }

    var logLevel: Logger.Level {
        get { .error }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        seen.withLock { $0.append(event.message.description) }
    }
}

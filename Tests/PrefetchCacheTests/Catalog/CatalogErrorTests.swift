import Foundation
import GRDB
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Errors that are not the file's fault: all processes share the file, and it stays.
@Suite struct CatalogErrorTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws {
        engine = try container.engine()
        for number in 0..<4 { try engine.store(noise(1000), ItemKey(number: number)) }
        _ = try engine.content(ItemKey(number: 0))
        try engine.flush()
    }

    private var identity: FileAttributes.Identity? {
        get throws { try CatalogFile.identity(in: engine.folders.current.root) }
    }

    @Test(arguments: [
        ResultCode.SQLITE_IOERR, .SQLITE_IOERR_WRITE, .SQLITE_CANTOPEN, .SQLITE_NOMEM,
    ])
    func anErrorOfTheVolumeOrTheProcessIsReportedAndTheFileStays(_ code: ResultCode) throws {
        let before = try identity
        let error = try #require(throws: CacheError.self) {
            try engine.catalog.transaction { _ in throw DatabaseError(resultCode: code) }
        }
        guard case .database(name: "catalog", _) = error else { throw error }
        #expect(try identity == before)
        #expect(try engine.items().last?.key.string == "item-0")
    }

    @Test(arguments: [
        ResultCode.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR_CORRUPTFS, .SQLITE_ERROR,
    ])
    func aFaultOfTheFileCostsTheFile(_ code: ResultCode) throws {
        var hasFailed = false
        try engine.catalog.transaction { _ in
            guard !hasFailed else { return }
            hasFailed = true
            throw DatabaseError(resultCode: code)
        }
        // In the order of storing: that of use is lost.
        #expect(try engine.items().map(\.key) == (0..<4).map { try ItemKey(number: $0) })
    }

    /// The system may take one file after the other before it is filled, here while a transaction is under way.
    @Test(arguments: [nil, ResultCode.SQLITE_IOERR_FSTAT, .SQLITE_READONLY_DBMOVED, .SQLITE_CANTOPEN])
    func aFileThatIsTakenAgainAndAgainIsRebuiltAgain(_ code: ResultCode?) throws {
        var taken = 0
        try engine.catalog.transaction { _ in
            guard taken < 30 else { return }
            taken += 1
            try container.catalog.remove()
            if let code { throw DatabaseError(resultCode: code) }
        }
        #expect(try engine.items().count == 4)
    }

    @Test func aProcessWithoutDescriptorsLeavesTheFileToTheOthers() throws {
        let before = try identity
        let second = try container.engine()
        try SQLiteFaults.failing(.open, of: container.catalog, errno: EMFILE) {
            let error = try #require(throws: CacheError.self) { try second.items() }
            guard case .fileSystem(let cause) = error, cause.errno == .tooManyOpenFiles else { throw error }
        }
        #expect(try identity == before)
        #expect(try second.items().last?.key.string == "item-0")
    }

    @Test func aQuotaThatIsUsedUpIsNoFaultOfTheFile() throws {
        let before = try identity
        try engine.store(noise(1000), "late")
        try SQLiteFaults.failing(.write, of: container.catalog, errno: EDQUOT) {
            let error = try #require(throws: CacheError.self) { try engine.flush() }
            #expect(error.isOutOfSpace)
        }
        #expect(try identity == before)
        #expect(engine.hasPendingChanges)
        #expect(try engine.items().count == 5)
    }
}

import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import cachectl

@Suite struct ExitCodeTests {
    private static let denied = FileSystemError("open", path: "/a", errno: .permissionDenied)
    private static let broken = FileSystemError("read", path: "/a", errno: .ioError)
    private static let full = FileSystemError("write", path: "/a", errno: .noSpace)

    @Test(
        arguments: [
            (.areas(.invalidApplicationID("/")), 64), (.areas(.emptyContainerPath), 64),
            (.areas(.homeMissing), 78), (.areas(.areaUnavailable(.documents)), 78),
            (.areas(.userDirectoriesUnreadable(Self.broken)), 78), (.areas(.workingDirectoryMissing), 78),
            (.areas(.notADirectory("/a")), 73), (.areas(.containerUnreadable(Self.denied)), 77),
            (.areas(.containerUnreadable(Self.broken)), 74),
            (.item(.purged), 66), (.item(.damaged(.key)), 65), (.item(.newerVersion(9)), 65),
            (.item(.contentTooLong), 65), (.item(.metadataTooLong(field: "source", bytes: 2, limit: 1)), 64),
            (.item(.destinationMissing), 64), (.noDestination("k"), 64),
            (.item(.priorityOutOfRange(2)), 64),
            (.item(.rangeOutOfBounds(0..<2, contentBytes: 1)), 64), (.item(.fileSystem(Self.denied)), 77),
            (.fileSystem(Self.denied), 77), (.fileSystem(Self.broken), 74), (.fileSystem(Self.full), 74),
            (.notOurs("/a"), 77), (.locked(Self.denied), 75), (.destination("/a", Self.denied), 73),
            (.destination("/a", Self.full), 73),
            (.destinationUnavailable(.iCloudDrive), 73), (.pathTooLong("/a", bytes: 505, limit: 504), 78),
            (.database(name: "catalog", message: "disk I/O error"), 74), (.newerLedger(version: 9), 78),
            (.catalogOverBudget, 75),
            (.configuration("no"), 78), (.writerIsFinished, 70), (.suspended, 70), (.closed, 70),
        ] as [(CacheError, CInt)])
    func anErrorHasItsCode(_ error: CacheError, _ code: CInt) {
        let failure = CommandFailure(error)
        #expect(failure.code.rawValue == code)
        #expect(failure.message?.hasPrefix(error.description) == true)
    }

    @Test(
        arguments: [
            (.absent, 66), (.expired, 66), (.purged, 66), (.damaged(.damaged(.chunkContent)), 65),
            (.newerFormat(version: 9), 65),
        ] as [(Miss, CInt)])
    func aMissHasItsCodeAndNamesTheKey(_ miss: Miss, _ code: CInt) {
        let failure = CommandFailure(miss, of: "the key")
        #expect(failure.code.rawValue == code)
        #expect(failure.message?.contains("the key") == true)
    }

    @Test(
        arguments: [
            .overBudget(needed: 2, budget: 1), .largerThanLargestItem(needed: 2, largest: 1),
            .lowPriority(0.5), .alreadyPromoted, .disabled, .pressure(.elevated), .pressure(.critical),
        ] as [Refusal])
    func aRefusalIsTemporaryAndSaysWhyAndWhatToDo(_ refusal: Refusal) {
        let failure = CommandFailure(refusal, of: "the key")
        #expect(failure.code.rawValue == 75)
        #expect(failure.message?.contains(refusal.reason) == true)
        #expect(failure.message?.contains("'cachectl ") == true)
    }

    @Test func tooLittleRoomIsTemporaryAndNamesBothFigures() {
        let failure = CommandFailure(CacheError.insufficientSpace(needed: 5_000_001, available: 17))
        #expect(failure.code.rawValue == 75)
        #expect(failure.message?.contains("5000001 bytes are needed") == true)
        #expect(failure.message?.contains("17 bytes are available") == true)
    }

    @Test func aReaderThatWentAwayIsNoFailure() {
        let error = FileSystemError("write", path: "standard output", errno: .brokenPipe)
        #expect(CommandFailure(error) == CommandFailure(.success, nil))
        #expect(CommandFailure(CacheError.fileSystem(error)) == CommandFailure(.success, nil))
    }

    @Test(arguments: ["catalog", "record"])
    func aDatabaseThatFailsComesWithAdvice(name: String) {
        let failure = CommandFailure(CacheError.database(name: name, message: "no"))
        #expect(failure.message?.contains("\(name).sqlite") == true)
    }

    @Test func aMovedFileIsNotFound() {
        let failure = CommandFailure(CacheError.movedOrDeleted(key: "k", "/a"))
        #expect(failure.code.rawValue == 66)
    }
}

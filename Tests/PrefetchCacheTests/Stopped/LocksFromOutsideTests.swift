import Foundation
import Testing

@testable import PrefetchCaching
@testable import testprograms

#if os(Linux)
    /// The locks that SQLite needs are those of the whole process, and any of its code can lose them: a busy process calls
    /// everything that the cache can do, and the kernel's list of its locks is compared with what SQLite has asked for.
    @Suite struct LocksFromOutsideTests {
        private let container: TemporaryContainer

        init() throws {
            container = try TemporaryContainer(budget: .mebibytes(64), largestItem: .mebibytes(16))
        }

        private func report(seconds: Int, _ flags: String...) async throws -> LockReport {
            let process = try StressProcess(["locks", "--seconds", "\(seconds)"] + flags, in: container)
            let outcome = await process.outcome()
            #expect(outcome.status == 0 && !outcome.wasKilled)
            return try outcome.report()
        }

        @Test func noCallLosesALock() async throws {
            let report = try await report(seconds: 3)
            #expect(report.lost == [])
            #expect(report.faults == [])
            #expect(report.checks > 1000)
            #expect(report.calls.count >= 40)
        }

        /// Negative control.
        @Test(
            arguments: ["Library/Caches/PrefetchCache/catalog.sqlite"]
                + ["", "-shm"].map {
                    "Library/Application Support/PrefetchCache/record.sqlite\($0)"
                })
        func aFileThatIsOpenedAndClosedIsNoticed(_ file: String) async throws {
            let report = try await report(seconds: 1, "--meddling", file)
            #expect(report.lost.contains(URL(filePath: file).lastPathComponent))
        }
    }
#endif

import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// The user's hand between any two system calls: whatever is opened, stored, purged or repaired, what users write,
/// move and delete stays as they left it.
@Suite struct UsersHandTests {
    /// At every moment of every work; of a sample at a few.
    @Test(
        arguments: TestRun.sample(
            8, of: HandedWork.allCases.flatMap { work in Hand.allCases.map { (work, $0) } }))
    func whatTheUserDoesStays(work: HandedWork, hand: Hand) throws {
        let runs = try HandedRun.expectNothingBroken(work, hand, every: 25)
        #expect(runs >= TestRun.count(short: 0, long: 5))
    }

    /// Without the exclusive rename, what the user saves is lost, and the judge says so.
    @Test func aRenameThatReplacesIsFoundOut() throws {
        var (moment, isFound) = (0, false)
        while !isFound,
            let violations = try HandedRun(work: .opensFilm, hand: .replaces, moment: moment).judge([
                .replacingRename
            ])
        {
            isFound = !violations.isEmpty
            moment += 1
        }
        #expect(isFound)
    }
}

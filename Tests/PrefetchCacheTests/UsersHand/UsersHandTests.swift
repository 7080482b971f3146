import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCache

/// The user's hand between any two system calls: whatever is opened, stored, purged or repaired, what users write,
/// move and delete stays as they left it.
@Suite struct UsersHandTests {
    /// Of the moments every one, or a sample where code is not optimised.
    private static let step = CrashEnumeration.isThorough ? 1 : 11

    @Test(arguments: HandedWork.allCases, Hand.allCases)
    func whatTheUserDoesStays(work: HandedWork, hand: Hand) throws {
        // Each hand another sample.
        var moment = hand.rawValue.utf8.count % min(Self.step, 3)
        var runs = 0
        while let broken = try HandedRun(work: work, hand: hand, moment: moment).judge() {
            #expect(broken == [])
            moment += Self.step
            runs += 1
        }
        #expect(runs >= (CrashEnumeration.isThorough ? 5 : 1))
        print("user's hand\(CrashEnumeration.sample): \(work), \(hand): \(runs) moments")
    }

    /// Without the exclusive rename, what the user saves is lost, and the judge says so.
    @Test func aRenameThatReplacesIsFoundOut() throws {
        var (moment, broken) = (0, 0)
        while let violations = try HandedRun(work: .opensFilm, hand: .replaces, moment: moment).judge([
            .replacingRename
        ]) {
            broken += violations.count
            moment += 1
        }
        #expect(broken > 0)
    }
}

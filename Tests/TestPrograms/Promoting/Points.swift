internal import ArgumentParser
internal import Foundation
internal import Synchronization

/// When the process ends: `point:17` at the seventeenth point, `time:2500` after so many microseconds.
enum Moment: ExpressibleByArgument, Equatable {
    case point(Int)
    case time(microseconds: UInt32)

    init?(argument: String) {
        let parts = argument.split(separator: ":").map(String.init)
        guard parts.count == 2 else { return nil }
        if parts[0] == "point", let number = Int(parts[1]) {
            self = .point(number)
        } else if parts[0] == "time", let time = UInt32(parts[1]) {
            self = .time(microseconds: time)
        } else {
            return nil
        }
    }
}

/// The points at which this process can end: before every call that changes the file system, those that SQLite
/// makes among them.
///
/// There is one for the process, because the functions that SQLite is given know of nothing else.
final class Points: Sendable {
    static let shared = Points()

    /// Held while something is said, for a moment before something is changed, and for ever when the power is
    /// about to go: a kernel may answer a flush with success when its file system is shut down already (XFS
    /// does for folders), and with an error on one volume while another goes on. Who has no power says and
    /// changes nothing.
    let lastPower = NSLock()

    private let count = Atomic<Int>(0)
    private let ending = Mutex<(moment: Moment, end: @Sendable () -> Void)?>(nil)

    private let calls = Mutex<[String: Int]>([:])

    var passed: Int { count.load(ordering: .relaxed) }

    /// The calls since this was asked last, by their names.
    func takeCalls() -> [String: Int] {
        calls.withLock { calls in
            defer { calls = [:] }
            return calls
        }
    }

    /// From now on, the process ends at `moment`.
    func end(at moment: Moment, by end: @escaping @Sendable () -> Void) {
        ending.withLock { $0 = (moment, end) }
        guard case .time(let microseconds) = moment else { return }
        Thread.detachNewThread {
            usleep(microseconds)
            end()
        }
    }

    /// - Parameter call: The name of the call that comes next.
    func pass(_ call: String) {
        calls.withLock { $0[call, default: 0] += 1 }
        lastPower.withLock {}
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let end = ending.withLock { ending in ending?.moment == .point(number) ? ending?.end : nil }
        end?()
    }
}

internal import Synchronization

/// Something that a process has seen. Where a child has seen it, it is a line on its standard output, which outlives
/// the child.
enum Note: Equatable {
    /// The process did this, with this key, and this many bytes.
    case did(String, key: String, bytes: Int64)
    /// A call took longer than any before it, in seconds.
    case slowest(String, Double)
    /// There are more of these, in the process, than ever before.
    case most(String, Int)
    /// What must never be.
    case fault(String)
    /// The process has come to a point that its parent waits for.
    case reached(String)

    var line: String {
        switch self {
        case .did(let act, let key, let bytes): "+\t\(act)\t\(key)\t\(bytes)"
        case .slowest(let call, let seconds): "~\t\(call)\t\(seconds)"
        case .most(let things, let count): "^\t\(things)\t\(count)"
        case .fault(let text): "!\t\(text.replacing("\n", with: " "))"
        case .reached(let point): "=\t\(point)"
        }
    }

    /// `nil` for a line that is none, or that its writer did not live to complete.
    init?(_ line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        switch (fields.first, fields.count) {
        case ("+", 4):
            guard let bytes = Int64(fields[3]) else { return nil }
            self = .did(fields[1], key: fields[2], bytes: bytes)
        case ("~", 3):
            guard let seconds = Double(fields[2]) else { return nil }
            self = .slowest(fields[1], seconds)
        case ("^", 3):
            guard let count = Int(fields[2]) else { return nil }
            self = .most(fields[1], count)
        case ("!", 2...): self = .fault(fields.dropFirst().joined(separator: " "))
        case ("=", 2): self = .reached(fields[1])
        default: return nil
        }
    }
}

/// What came of many notes.
struct Tally {
    /// How often each thing was done.
    private(set) var counts: [String: Int] = [:]
    /// The bytes that each thing was done with.
    private(set) var bytes: [String: Int64] = [:]
    private(set) var slowest: [String: Double] = [:]
    private(set) var most: [String: Int] = [:]
    private(set) var faults: [String] = []

    mutating func add(_ note: Note) {
        switch note {
        case .did(let act, _, let length):
            counts[act, default: 0] += 1
            bytes[act, default: 0] += length
        case .slowest(let call, let seconds): slowest[call] = max(seconds, slowest[call] ?? 0)
        case .most(let things, let count): most[things] = max(count, most[things] ?? 0)
        case .fault(let text): faults.append(text)
        case .reached: break
        }
    }

    subscript(_ act: String) -> Int { counts[act] ?? 0 }
}

/// Takes notes, from any thread. A child passes each on to its parent at once.
final class Notebook: Sendable {
    private let tally = Mutex(Tally())
    private let isChild: Bool

    init(isChild: Bool) {
        self.isChild = isChild
    }

    var present: Tally { tally.withLock { $0 } }

    func add(_ note: Note) {
        tally.withLock { $0.add(note) }
        if isChild { Output.write(note.line) }
    }

    func did(_ act: String, _ key: String = "", bytes: Int64 = 0) { add(.did(act, key: key, bytes: bytes)) }
    func fault(_ text: String) { add(.fault(text)) }

    func took(_ duration: Duration, _ call: String) {
        let seconds = duration / .seconds(1)
        if tally.withLock({ seconds > $0.slowest[call] ?? 0 }) { add(.slowest(call, seconds)) }
    }

    func saw(_ count: Int, _ things: String) {
        if tally.withLock({ count > $0.most[things] ?? 0 }) { add(.most(things, count)) }
    }
}

internal import Foundation
internal import PrefetchCaching

/// A task beside readers at full speed, which suffers if they take every thread, or note more than is written.
struct Bystander {
    /// How long each act took, in seconds; of a sleep, how much longer than it should.
    private var times: [String: [Double]] = [:]
    /// By how many bytes the process has grown meanwhile.
    private var growth = 0
    private let watched: WatchedCache

    /// What 99 of 100 may take at most.
    private static let limits = ["sleep": 0.005, "store": 0.05, "statistics": 0.5]
    private static let mostGrowth = 32 << 20

    init(_ watched: WatchedCache) {
        self.watched = watched
    }

    /// Goes on until it is cancelled.
    consuming func run() async throws -> Bystander {
        let before = Self.residentBytes
        var round = 0
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do { try await Task.sleep(for: .milliseconds(10)) } catch { break }
            note("sleep", since: start + .milliseconds(10))
            if round % 5 == 0 {
                let start = ContinuousClock.now
                let key = try ItemKey("beside-\(round)")
                await watched.store(
                    Data("beside".utf8), as: ItemMetadata(key: key), call: "store beside readers")
                note("store", since: start)
            }
            if round % 50 == 0 {
                let start = ContinuousClock.now
                _ = try await watched.statistics(call: "statistics beside readers")
                note("statistics", since: start)
            }
            growth = max(growth, Self.residentBytes - before)
            round += 1
        }
        return self
    }

    private mutating func note(_ act: String, since start: ContinuousClock.Instant) {
        times[act, default: []].append(start.duration(to: .now) / .seconds(1))
    }

    /// - Parameter plain: What the machine itself takes at times.
    func judge(_ verdict: inout Verdict, plain: Double) {
        for (act, limit) in Self.limits.sorted(by: { $0.key < $1.key }) {
            guard let times = times[act]?.sorted() else { continue }
            let most = times[times.count * 99 / 100]
            verdict.figure("\(act) beside readers \(most.time)")
            verdict.expect(
                most <= limit + 3 * plain,
                "times: \(act) beside readers took \(most.time) where \(limit.time) is the limit")
        }
        verdict.figure("\(growth >> 20) MiB more")
        verdict.expect(growth <= Self.mostGrowth, "memory: \(growth) bytes more beside readers")
    }

    private static var residentBytes: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var (line, length) = ([CChar](repeating: 0, count: 128), 128)
        length = fread(&line, 1, length, file)
        let fields = String(decoding: line.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self).split(
            separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }
}

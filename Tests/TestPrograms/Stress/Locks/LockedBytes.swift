internal import Foundation

/// The bytes of one file that a process has locked.
struct LockedBytes: Sendable {
    struct Locked: Sendable {
        var bytes: Range<Int64>
        let isExclusive: Bool
    }

    private(set) var ranges: [Locked] = []

    var isEmpty: Bool { ranges.isEmpty }

    mutating func add(_ bytes: Range<Int64>, isExclusive: Bool) {
        remove(bytes)
        ranges.append(Locked(bytes: bytes, isExclusive: isExclusive))
    }

    mutating func remove(_ bytes: Range<Int64>) {
        ranges = ranges.flatMap { locked in
            [
                locked.bytes.clamped(to: .min..<bytes.lowerBound),
                locked.bytes.clamped(to: bytes.upperBound..<(.max)),
            ].filter { !$0.isEmpty }.map { Locked(bytes: $0, isExclusive: locked.isExclusive) }
        }
    }

    #if os(Linux)
        /// What the kernel does for a request that it has granted.
        mutating func apply(_ request: flock) {
            let start = Int64(request.l_start)
            let bytes = start..<(request.l_len == 0 ? .max : start + Int64(request.l_len))
            if CInt(request.l_type) == F_UNLCK {
                remove(bytes)
            } else {
                add(bytes, isExclusive: CInt(request.l_type) == F_WRLCK)
            }
        }
    #endif
}

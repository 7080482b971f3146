import FileSystemTestSupport

@testable import PrefetchCaching

/// A request of a synthetic trace. The size depends on the key alone.
struct TraceRequest {
    let number: Int
    let size: Int64

    var key: ItemKey { get throws { try ItemKey("\(number)") } }
}

/// Requests that are the same on every machine.
enum EvictionTrace {
    /// Keys of which the least of three is asked for, so that low ones are popular, and sizes from
    /// 1 KiB to 1 GiB, spread evenly over the powers of two.
    static func skewed(seed: UInt64, count: Int) -> some Sequence<TraceRequest> {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).lazy.map { _ in
            let random = generator.next()
            let number = min(random & 0xFFF, (random >> 12) & 0xFFF, (random >> 24) & 0xFFF)
            let hash = mixed(number + 1)
            let size = (UInt64(1) << (10 + hash % 21)) + ((hash >> 32) & 0x3FF)
            return TraceRequest(number: Int(number), size: Int64(size))
        }
    }

    /// The finaliser of SplitMix64: what a generator gives that has just arrived at `state`.
    private static func mixed(_ state: UInt64) -> UInt64 {
        var generator = SeededGenerator(seed: state &- 0x9E37_79B9_7F4A_7C15)
        return generator.next()
    }
}

import FileSystemTestSupport

@testable import PrefetchVolumeCapacity

/// Volumes as they are and as they cannot be: the numbers that break arithmetic, the neighbours of every
/// threshold, amounts beyond the total, and plain ones.
struct RandomStates {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func state() -> VolumeState {
        let total = total()
        return VolumeState(
            total: total, available: amount(of: total), evictable: amount(of: total),
            purgeable: flip() ? 0 : amount(of: total))
    }

    /// One that a volume can be in: nothing is negative, and what is ours and what is free fit on it.
    mutating func possibleState() -> VolumeState {
        var state = state().sanitized
        state.evictable = min(state.evictable, state.total - state.available)
        return state
    }

    /// What a system might report that knows more than the model does, and what it must not.
    mutating func reported(total: Int64) -> ReportedCapacity {
        ReportedCapacity(
            important: flip() ? nil : amount(of: total), opportunistic: flip() ? nil : amount(of: total))
    }

    /// A model with a few constants that make no sense.
    mutating func model() -> CapacityModel {
        var model = CapacityModel()
        let constants = CapacityModel.constants
        for _ in 0..<3 {
            model[keyPath: constants[Int(below(Int64(constants.count)))].path] = extreme()
        }
        return model
    }

    mutating func level() -> Pressure {
        Pressure.allCases[Int(below(4))]
    }

    mutating func flip() -> Bool {
        generator.next() & 1 == 0
    }

    /// From 0 to `upper`, evenly; or often the ends themselves.
    mutating func part(of upper: Int64) -> Int64 {
        switch generator.next() & 7 {
        case 0: 0
        case 1: upper
        case 2: min(1, upper)
        default: upper == .max ? below(.max) : below(upper + 1)
        }
    }

    private mutating func total() -> Int64 {
        switch generator.next() & 3 {
        case 0: extreme()
        case 1: below(100_000)
        default: 1_000_000_000 + below(4_000_000_000_000)
        }
    }

    private mutating func amount(of total: Int64) -> Int64 {
        switch generator.next() & 7 {
        case 0: return extreme()
        case 1, 2:
            let low = min(max(0, total) / 20, 500 << 20)
            let reserve = min(max(0, total) / 20 * 3, 4 << 30)
            let marks = [low, low / 2 * 3, low * 2, reserve, reserve / 10 * 11, max(0, total)]
            return saturating(marks[Int(below(Int64(marks.count)))], below(9) - 4)
        case 3: return below(64 << 30)
        default: return part(of: max(0, total))
        }
    }

    /// 0, 1, a power of two or its neighbour, one of the ends of `Int64`, or negative.
    private mutating func extreme() -> Int64 {
        switch generator.next() & 7 {
        case 0: 0
        case 1: 1
        case 2: .max - below(3)
        case 3: below(64) == 0 ? .min : -below(1 << 40)
        default: Int64(1) << below(63) - 1 + below(3)
        }
    }

    private func saturating(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    /// Modulo is not quite even, and fast in a debug build.
    private mutating func below(_ bound: Int64) -> Int64 {
        bound <= 0 ? 0 : Int64(generator.next() >> 1) % bound
    }
}

import PrefetchVolumeCapacity
import Testing

/// A volume of 100 GiB: reserve 4 GiB, low 500 MiB.
@Suite struct PressureTests {
    private let model = CapacityModel()
    private let total: Int64 = 100 << 30
    private let low: Int64 = 500 << 20
    private let reserve: Int64 = 4 << 30

    @Test func levelsAreOrderedBySeverity() {
        #expect(Pressure.allCases == [.normal, .elevated, .low, .critical])
        #expect(Pressure.allCases.sorted() == Pressure.allCases)
        #expect(Pressure.critical > .low)
        #expect(!(Pressure.low < .low))
    }

    @Test func levelsBeginJustBelowTheirThresholds() {
        let path: [(Int64, Pressure)] = [
            (total, .normal), (reserve, .normal), (reserve - 1, .elevated), (low * 3 / 2, .elevated),
            (low * 3 / 2 - 1, .low), (low, .low), (low - 1, .critical), (0, .critical),
        ]
        #expect(walk(path.map(\.0)) == path.map(\.1))
    }

    @Test func levelsLastUntilTheVolumeHasRecovered() {
        let path: [(Int64, Pressure)] = [
            (0, .critical), (low, .critical), (low * 3 / 2 - 1, .critical), (low * 3 / 2, .low),
            (low * 2 - 1, .low), (low * 2, .elevated), (reserve, .elevated),
            (elevatedLeave - 1, .elevated), (elevatedLeave, .normal), (elevatedLeave - 1, .normal),
            (reserve, .normal),
        ]
        #expect(walk(path.map(\.0)) == path.map(\.1))
    }

    @Test func aVolumeThatWasNeverShortIsNotHeldToTheHigherThreshold() {
        #expect(level(at: reserve, after: .normal) == .normal)
        #expect(level(at: reserve, after: .elevated) == .elevated)
        #expect(level(at: low * 3 / 2, after: .elevated) == .elevated)
        #expect(level(at: low * 3 / 2, after: .low) == .low)
        #expect(level(at: low, after: .low) == .low)
        #expect(level(at: low, after: .critical) == .critical)
    }

    @Test func aLevelMayBeSkippedInBothDirections() {
        #expect(walk([total, 0, total]) == [.normal, .critical, .normal])
    }

    /// Of 10,000 bytes 500 are the low mark and 1500 the reserve.
    @Test func aSmallVolumeHasItsThresholdsInProportion() {
        let thresholds = model.capacity(of: VolumeState(total: 10_000, available: 0)).thresholds
        #expect(thresholds.elevated == .init(enter: 1500, leave: 1650))
        #expect(thresholds.low == .init(enter: 750, leave: 1000))
        #expect(thresholds.critical == .init(enter: 500, leave: 750))
    }

    @Test func theThresholdsOfACapacityAreThoseInForce() {
        let failure = firstFailure { random in
            let state = random.state()
            let last = random.level()
            let capacity = model.capacity(of: state)
            return capacity.thresholds.level(at: capacity.state.available, after: last)
                == model.pressure(of: state, after: last) ? nil : "\(state) after \(last)"
        }
        #expect(failure == nil)
    }

    @Test func aLeaveBelowTheEnterDoesNotLetALevelFlap() {
        let band = PressureThresholds.Band(enter: 100, leave: 50)
        let thresholds = PressureThresholds(elevated: band, low: band, critical: band)
        #expect(thresholds.level(at: 75, after: .normal) == .critical)
        #expect(thresholds.level(at: 75, after: .critical) == .critical)
        #expect(thresholds.level(at: 100, after: .critical) == .normal)
    }

    private var elevatedLeave: Int64 { reserve * 11 / 10 }

    private func level(at available: Int64, after last: Pressure) -> Pressure {
        model.pressure(of: VolumeState(total: total, available: available), after: last)
    }

    private func walk(_ path: [Int64]) -> [Pressure] {
        var last = Pressure.normal
        return path.map { available in
            last = level(at: available, after: last)
            return last
        }
    }
}

@Suite struct BudgetGrowthTests {
    private let model = CapacityModel()

    @Test(
        arguments: [
            // The first is taken as it is, one shrinks at once, and grows by a twentieth or more.
            (nil, 7, 7), (nil, 0, 0), (1000, 999, 999), (1000, 0, 0),
            (1000, 1000, 1000), (1000, 1049, 1000), (1000, 1050, 1050), (1001, 1051, 1001),
            (1001, 1052, 1052), (0, 1, 1),
            // Amounts below nothing count as nothing, and the largest do not overflow.
            (-5, 1, 1), (5, -1, 0), (nil, -1, 0),
            (.max, .max, .max), (1, .max, .max), (.max - 1, .max, .max - 1),
        ] as [(Int64?, Int64, Int64)])
    func aBudgetShrinksAtOnceAndGrowsInSteps(current: Int64?, new: Int64, expected: Int64) {
        #expect(model.budget(from: current, to: new) == expected)
    }

    @Test(
        arguments: [
            (0, 1000, 1001, 1001), (1000, 1000, 1999, 1000), (1000, 1000, 2000, 2000),
            (.max, .max - 1, .max, .max - 1),
        ] as [(Int64, Int64, Int64, Int64)])
    func theStepIsTheModels(perMille: Int64, current: Int64, new: Int64, expected: Int64) {
        var model = model
        model.growthPerMille = perMille
        #expect(model.budget(from: current, to: new) == expected)
    }

    @Test func aBudgetInForceIsNeverAboveWhatTheVolumeAllows() {
        let failure = firstFailure { random in
            let state = random.state()
            let (current, new) = (state.available, state.evictable)
            let budget = model.budget(from: current, to: new)
            let isRight =
                0 <= budget && budget <= max(0, new) && budget >= min(max(0, current), max(0, new))
                && model.budget(from: budget, to: new) == budget
            return isRight ? nil : "from \(current) to \(new): \(budget)"
        }
        #expect(failure == nil)
    }
}

import PrefetchVolumeCapacity
import Testing

@Suite struct BudgetGrowthTests {
    private let model = CapacityModel()

    @Test func theFirstBudgetIsTakenAsItIs() {
        #expect(model.budget(from: nil, to: 7) == 7)
        #expect(model.budget(from: nil, to: 0) == 0)
    }

    @Test func aBudgetShrinksAtOnce() {
        #expect(model.budget(from: 1000, to: 999) == 999)
        #expect(model.budget(from: 1000, to: 0) == 0)
    }

    @Test func aBudgetGrowsOnlyByATwentiethOrMore() {
        #expect(model.budget(from: 1000, to: 1000) == 1000)
        #expect(model.budget(from: 1000, to: 1049) == 1000)
        #expect(model.budget(from: 1000, to: 1050) == 1050)
        #expect(model.budget(from: 1001, to: 1051) == 1001)
        #expect(model.budget(from: 1001, to: 1052) == 1052)
    }

    @Test func aBudgetOfNothingGrowsAtOnce() {
        #expect(model.budget(from: 0, to: 1) == 1)
    }

    @Test func amountsBelowNothingCountAsNothing() {
        #expect(model.budget(from: -5, to: 1) == 1)
        #expect(model.budget(from: 5, to: -1) == 0)
        #expect(model.budget(from: nil, to: -1) == 0)
    }

    @Test func theLargestNumbersDoNotOverflow() {
        var model = model
        #expect(model.budget(from: .max, to: .max) == .max)
        #expect(model.budget(from: 1, to: .max) == .max)
        #expect(model.budget(from: .max - 1, to: .max) == .max - 1)
        model.growthPerMille = .max
        #expect(model.budget(from: .max - 1, to: .max) == .max - 1)
    }

    @Test func theStepIsTheModels() {
        var model = model
        model.growthPerMille = 0
        #expect(model.budget(from: 1000, to: 1001) == 1001)
        model.growthPerMille = 1000
        #expect(model.budget(from: 1000, to: 1999) == 1000)
        #expect(model.budget(from: 1000, to: 2000) == 2000)
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

import PrefetchVolumeCapacity
import Testing

/// What holds for every volume, held against random ones.
@Suite struct CapacityPropertyTests {
    private let model = CapacityModel()

    @Test func everyAmountIsWithinTheVolume() {
        let failure = firstFailure { random in
            var state = random.state()
            if random.flip() { state.reported = random.reported(total: state.total) }
            return outOfBounds(model.capacity(of: state), state)
        }
        #expect(failure == nil)
    }

    @Test func constantsThatContradictNeitherTrapNorLeaveTheVolume() {
        let failure = firstFailure { random in
            var state = random.state()
            if random.flip() { state.reported = random.reported(total: state.total) }
            let model = random.model()
            let capacity = model.capacity(of: state, cap: random.flip() ? nil : state.purgeable)
            let last = random.level()
            let level = model.pressure(of: state, after: last)
            if model.pressure(of: state, after: level) != level { return "level of \(model), \(state)" }
            _ = model.budget(from: state.available, to: state.evictable)
            _ = model.problem
            return outOfBounds(capacity, state).map { "\($0), \(model)" }
        }
        #expect(failure == nil)
    }

    @Test func aBudgetLeavesTheReserveFree() {
        var positive = 0
        let failure = firstFailure { random in
            let state = random.state().sanitized
            let capacity = model.capacity(of: state)
            if capacity.budget == 0 { return nil }
            positive += 1
            let left = Int128(state.available) + Int128(state.evictable) - Int128(capacity.budget)
            return left >= Int128(capacity.reserve) ? nil : "\(capacity)"
        }
        #expect(failure == nil)
        #expect(positive > caseCount / 4)
    }

    @Test func movingBytesBetweenOursAndFreeChangesNeitherImportantNorBudget() {
        let failure = firstFailure { random in
            let before = random.state().sanitized
            var after = before
            let moved = random.part(of: min(before.available, before.total - before.evictable))
            after.available -= moved
            after.evictable += moved
            let (one, other) = (model.capacity(of: before), model.capacity(of: after))
            return one.important == other.important && one.budget == other.budget
                ? nil : "\(moved) moved: \(one), \(other)"
        }
        #expect(failure == nil)
    }

    /// A byte written takes one from what the system reports too.
    @Test func movingBytesChangesNoBudgetThatRestsOnAReport() {
        let failure = firstFailure { random in
            var before = random.possibleState()
            let room = before.available / 2
            before.reported = ReportedCapacity(important: before.total, opportunistic: room)
            var after = before
            let moved = random.part(of: max(0, room - 1))
            after.available -= moved
            after.evictable += moved
            after.reported = ReportedCapacity(important: before.total, opportunistic: room - moved)
            let (one, other) = (model.capacity(of: before), model.capacity(of: after))
            return one.budget == other.budget ? nil : "\(moved) moved: \(one), \(other)"
        }
        #expect(failure == nil)
    }

    @Test func moreFreeBytesLowerNoAmountAndRaiseNoPressure() {
        let failure = firstFailure { random in
            var state = random.state()
            if random.flip() { state.reported = random.reported(total: state.total) }
            let before = model.capacity(of: state)
            var more = before.state
            more.available += random.part(of: more.total - more.available)
            let after = model.capacity(of: more)
            for (old, new) in zip(outputs(before), outputs(after)) where new.value < old.value {
                return "\(old.name): \(before), \(after)"
            }
            let last = random.level()
            return model.pressure(of: more, after: last) <= model.pressure(of: state, after: last)
                ? nil : "pressure after \(last): \(state), \(more)"
        }
        #expect(failure == nil)
    }

    @Test func fillingOrTrimmingToTheBudgetLeavesItUnchanged() {
        let failure = firstFailure { random in
            let before = model.capacity(of: random.state())
            var state = before.state
            let sum = Int128(state.available) + Int128(state.evictable) - Int128(before.budget)
            state.evictable = before.budget
            state.available = Int64(clamping: sum)
            let after = model.capacity(of: state)
            return after.budget == before.budget ? nil : "\(before), \(after)"
        }
        #expect(failure == nil)
    }

    @Test func aVolumeWithoutBytesHasRoomForNothing() {
        let failure = firstFailure { random in
            var state = random.state()
            state.total = min(0, state.total)
            if random.flip() { state.reported = random.reported(total: .max) }
            let capacity = model.capacity(of: state)
            for output in outputs(capacity) where output.name != "cap" && output.name != "quantum" {
                if output.value != 0 { return "\(output.name): \(capacity)" }
            }
            return nil
        }
        #expect(failure == nil)
    }

    @Test func theLargestNumbersDoNotOverflow() {
        let state = VolumeState(total: .max, available: .max, evictable: .max, purgeable: .max)
        let capacity = model.capacity(of: state)
        #expect(capacity.important == .max)
        #expect(capacity.opportunistic == .max - (4 << 30))
        #expect(capacity.room == .max - (4 << 30))
        #expect(capacity.share == 1_073_741_824 + 6_442_450_944 + (.max - (64 << 30)) / 40)
        #expect(capacity.budget == 16 << 30)
        #expect(model.pressure(of: state, after: .critical) == .normal)
    }

    private func outOfBounds(_ capacity: Capacity, _ given: VolumeState) -> String? {
        let total = max(0, given.total)
        let isWithin =
            0 <= capacity.opportunistic && capacity.opportunistic <= capacity.important
            && capacity.important <= total && 0 <= capacity.budget && capacity.budget <= total
            && 0 <= capacity.room && capacity.room <= total && capacity.budget <= capacity.cap
            && capacity.budget <= capacity.share
            && (capacity.budget == capacity.cap || capacity.budget % capacity.quantum == 0)
        return isWithin ? nil : "\(capacity)"
    }
}

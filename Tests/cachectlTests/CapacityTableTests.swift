import Testing

@testable import PrefetchCaching
@testable import cachectl

@Suite struct CapacityTableTests {
    private static let gibibyte: Int64 = 1 << 30

    private func steps(
        _ state: VolumeState, _ model: CapacityModel = CapacityModel(), cap: Int64? = nil
    ) -> [String: Derivation.Step] {
        let steps = Derivation(capacity: model.capacity(of: state, cap: cap), model: model).steps
        return Dictionary(uniqueKeysWithValues: steps.map { ($0.name, $0) })
    }

    private func table(
        available: Int64, pressure: Pressure = .normal, budget: CacheConfiguration.Budget = .automatic,
        inForce: Int64? = nil
    ) -> String {
        var configuration = CacheConfiguration()
        configuration.budget = budget
        let capacity = CapacityModel().capacity(
            of: VolumeState(total: 100 * Self.gibibyte, available: available))
        let bytes = inForce ?? capacity.budget
        let report = CapacityReport(
            capacity: capacity, pressure: pressure, configuredBudget: budget, budgetBytes: bytes,
            ceilingBytes: min(bytes, capacity.room), largestItemBytes: bytes / 2, chargedBytes: 0,
            heldBytes: 0, catalogBytes: 0,
            refusal: pressure == .normal ? nil : .pressure(pressure))
        return CapacityTable(report: report, configuration: configuration).lines.joined(separator: "\n")
    }

    @Test func theArithmeticIsToldInNumbers() {
        let steps = steps(
            VolumeState(
                total: 200 * Self.gibibyte, available: 70 * Self.gibibyte, evictable: 2 * Self.gibibyte))
        #expect(
            steps["low"]?.explanation
                == "the smaller of 5 % of the volume (10 GiB) and 500 MiB; with less the volume is nearly full"
        )
        #expect(
            steps["reserve"]?.explanation
                == "the smaller of 15 % of the volume (30 GiB) and 4.0 GiB; opportunistic items leave it free"
        )
        #expect(
            steps["important"]?.explanation
                == "for requested items: available 70 GiB + ours 2.0 GiB − low 500 MiB")
        #expect(
            steps["opportunistic"]?.explanation
                == "for opportunistic items: available 70 GiB − reserve 4.0 GiB")
        #expect(steps["U + A"]?.explanation == "ours 2.0 GiB + available 70 GiB")
        #expect(steps["room"]?.explanation == "U + A 72 GiB − reserve 4.0 GiB")
        #expect(
            steps["share"]?.explanation
                == "1.0 GiB (25 % of the first 4.0 GiB) + 6.0 GiB (10 % of the next 60 GiB) + "
                + "205 MiB (2.5 % of the 8.0 GiB above 64 GiB)")
        #expect(steps["cap"]?.explanation == "the most on any volume")
        #expect(steps["smallest"]?.explanation == "of room, share and cap: share")
        #expect(steps["quantum"]?.explanation == "the smaller of 16 MiB and the volume ÷ 1024 (200 MiB)")
        #expect(steps["budget"]?.explanation == "share 7.2 GiB, rounded down to 460 × the quantum")
        #expect(steps["budget"]?.bytes == Int64(460) * (16 << 20))
    }

    @Test func theSmallestIsNamed() {
        let small = VolumeState(total: 10 * Self.gibibyte, available: 4 * Self.gibibyte)
        #expect(steps(small)["smallest"]?.explanation.hasSuffix(": share") == true)
        #expect(steps(small, cap: 1 << 20)["smallest"]?.explanation.hasSuffix(": cap") == true)
        #expect(steps(small, cap: 1 << 20)["budget"]?.explanation == "the cap")
        #expect(steps(small, cap: 1 << 20)["cap"]?.explanation == "as configured; otherwise 16 GiB")
        let scarce = VolumeState(total: 10 * Self.gibibyte, available: 1600 << 20)
        #expect(steps(scarce)["smallest"]?.explanation.hasSuffix(": room") == true)
    }

    @Test func aBoundThatWasMetIsTold() {
        let full = steps(VolumeState(total: 10 * Self.gibibyte, available: 0))
        for name in ["important", "opportunistic", "room"] {
            #expect(full[name]?.bytes == 0)
            #expect(full[name]?.explanation.hasSuffix(", and at least 0 B") == true, "\(name)")
        }
        #expect(full["share"]?.explanation == "of U + A, which is nothing")
        let odd = steps(VolumeState(total: 1000, available: 900, evictable: 900, purgeable: 900))
        #expect(odd["important"]?.explanation.hasSuffix(", and at most the volume") == true)
        #expect(odd["important"]?.explanation.contains("+ purgeable 900 B −") == true)
        #expect(odd["U + A"]?.explanation.hasSuffix(", and at most the volume") == true)
        #expect(odd["quantum"]?.explanation.hasSuffix("(0 B), and at least 1 B") == true)
    }

    @Test func noVolumeIsTooStrange() {
        for state in [
            VolumeState(total: 0, available: 0), VolumeState(total: .max, available: .max, evictable: .max),
            VolumeState(total: -1, available: -1, evictable: -1),
        ] {
            #expect(steps(state).count == 11)
        }
    }

    @Test func whatTheSystemReportedIsNotExplainedAsComputed() {
        let state = VolumeState(
            total: 200 * Self.gibibyte, available: 70 * Self.gibibyte, evictable: Self.gibibyte,
            reported: ReportedCapacity(important: 90 * Self.gibibyte, opportunistic: 3 * Self.gibibyte))
        let steps = steps(state)
        #expect(
            steps["important"]?.explanation
                == "for requested items: reported by the system, not computed")
        #expect(
            steps["opportunistic"]?.explanation
                == "for opportunistic items: reported by the system, not computed")
        #expect(steps["room"]?.bytes == 4 * Self.gibibyte)
        #expect(
            steps["room"]?.explanation == "ours 1.0 GiB + opportunistic 3.0 GiB, as reported by the system")
    }

    @Test func aBudgetThatIsNotTheDerivedOneIsExplained() {
        let available = 50 * Self.gibibyte
        #expect(table(available: available).contains("  automatic\n"))
        let text = table(available: available, inForce: 5500 << 20)
        #expect(
            text.contains("  automatic; it grows only in steps of at least 5 %, and 5.6 GiB would be less\n"))
        #expect(
            !table(available: available, budget: .fixed(.gibibytes(1)), inForce: 1 << 30).contains("grows"))
    }

    @Test(arguments: [
        (Pressure.elevated, 4 << 30, "It ends when 4.4 GiB are available, 410 MiB more than now\n"),
        (
            .low, 700 << 20,
            "It ends when 1000 MiB are available, 300 MiB more than now, and is elevated then\n"
        ),
        (.critical, 0, "It ends when 750 MiB are available, 750 MiB more than now, and is low then\n"),
    ])
    func theEndOfALevelIsTold(_ level: Pressure, _ available: Int64, _ end: String) {
        let text = table(available: available, pressure: level)
        #expect(text.hasPrefix("pressure  \(level.rawValue): "))
        #expect(text.contains(end))
        #expect(text.contains("admitted  nothing: the volume is short of space (\(level.rawValue))\n"))
    }

    @Test func theLevelsAreTabled() {
        let rows = table(available: 50 * Self.gibibyte).split(separator: "\n").suffix(4)
        #expect(rows.first == "PRESSURE    BEGINS BELOW   ENDS AT  MEANING")
        #expect(rows.contains { $0.hasPrefix("  elevated       4.0 GiB   4.4 GiB  the reserve is in use;") })
        #expect(
            rows.contains { $0.hasPrefix("  low            750 MiB  1000 MiB  the volume is nearly full;") })
        #expect(
            rows.contains { $0.hasPrefix("  critical       500 MiB   750 MiB  the volume is practically") })
    }
}

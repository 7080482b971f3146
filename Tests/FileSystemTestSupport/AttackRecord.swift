/// What came of one kind of attack: a line for the table of the article on attacks.
///
/// What was not looked at has no number: a zero in the table is one that was counted.
package struct AttackRecord: Sendable, CustomStringConvertible {
    /// `group.attack`, in kebab-case.
    package let name: String
    package var cases: Int
    /// What is counted as a case, without a comma.
    package let unit: String
    /// Answers with bytes that were not those of the key.
    package var wrongBytes: Int?
    /// Files that had been handed over, and that were gone or changed afterwards.
    package var lostPromotions: Int?
    /// Files that this library did not create, and that were changed or removed.
    package var foreignTouched: Int?
    /// Processes that ended in a way that was neither asked for nor documented.
    package var crashes: Int?
    /// Bytes charged beyond the budget, at the worst moment.
    package var overshoot: Int?
    /// What the address or the thread sanitizer had to say.
    package var sanitizerReports: Int?

    package init(_ name: String, of unit: String, cases: Int = 0) {
        self.name = name
        self.unit = unit
        self.cases = cases
    }

    /// Notes that it was looked at, and how many there were.
    package mutating func note(_ measure: WritableKeyPath<AttackRecord, Int?>, _ count: Int) {
        self[keyPath: measure] = (self[keyPath: measure] ?? 0) + count
    }

    /// As ``note(_:_:)``, of one answer or file.
    package mutating func note(_ measure: WritableKeyPath<AttackRecord, Int?>, if isBroken: Bool) {
        note(measure, isBroken ? 1 : 0)
    }

    /// Notes what was charged at a moment; the worst one counts.
    package mutating func note(charged bytes: Int64, budget: Int64) {
        overshoot = max(overshoot ?? 0, Int(bytes - budget))
    }

    /// Adds what came of a part of the attack.
    package mutating func add(_ part: AttackRecord) {
        cases += part.cases
        for measure in Self.sums {
            if let count = part[keyPath: measure] { note(measure, count) }
        }
        if let overshoot = part.overshoot { self.overshoot = max(self.overshoot ?? 0, overshoot) }
    }

    private static var sums: [WritableKeyPath<AttackRecord, Int?>] {
        [\.wrongBytes, \.lostPromotions, \.foreignTouched, \.crashes, \.sanitizerReports]
    }

    /// Whether no promise was broken.
    package var isHarmless: Bool {
        [wrongBytes, lostPromotions, foreignTouched, crashes, overshoot, sanitizerReports]
            .allSatisfy { ($0 ?? 0) == 0 }
    }

    package var description: String {
        func text(_ count: Int?) -> String { count.map { "\($0)" } ?? "–" }
        return "attack \(name): \(cases) cases of \(unit), \(text(wrongBytes)) wrong bytes served, "
            + "\(text(lostPromotions)) promoted bytes lost, \(text(foreignTouched)) foreign files touched, "
            + "\(text(crashes)) crashes, \(text(overshoot)) bytes over budget, "
            + "\(text(sanitizerReports)) sanitizer reports"
    }

    /// Prints the record, a line of its own.
    package func report() {
        print(self)
    }
}

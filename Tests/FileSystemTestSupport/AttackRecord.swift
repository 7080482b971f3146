/// What came of one kind of attack: a line for the table of the article on attacks.
public struct AttackRecord: Sendable, CustomStringConvertible {
    /// `group.attack`, in kebab-case.
    public let name: String
    public var cases: Int
    /// Answers with bytes that were not those of the key.
    public var wrongBytes = 0
    /// Files that had been handed over, and that were gone or changed afterwards.
    public var lostPromotions = 0
    /// Files that this library did not create, and that were changed or removed.
    public var foreignTouched = 0
    /// Processes that ended in a way that was neither asked for nor documented.
    public var crashes = 0
    /// Bytes charged beyond the budget, at the worst moment.
    public var overshoot: Int64 = 0

    public init(_ name: String, cases: Int = 0) {
        self.name = name
        self.cases = cases
    }

    /// Whether no promise was broken.
    public var isHarmless: Bool {
        wrongBytes == 0 && lostPromotions == 0 && foreignTouched == 0 && crashes == 0 && overshoot == 0
    }

    public var description: String {
        "attack \(name): \(cases) cases, \(wrongBytes) wrong bytes served, "
            + "\(lostPromotions) promoted bytes lost, \(foreignTouched) foreign files touched, \(crashes) crashes, \(overshoot) bytes over budget"
    }

    /// Prints the record, a line of its own.
    public func report() {
        print(self)
    }
}

import Testing

@testable import cachectl

@Suite struct PriorityTests {
    @Test(arguments: [("0", 0), ("1", 1), ("0.5", 0.5), (".5", 0.5), ("1e-3", 0.001), ("-0", 0)])
    func aPriorityIsRead(_ text: String, _ priority: Float) throws {
        #expect(try Priority.parse(text) == priority)
    }

    @Test(
        arguments: [
            ("", .notANumber), ("high", .notANumber), ("0,5", .notANumber), (" 0.5", .notANumber),
            ("nan", .outOfRange), ("-nan", .outOfRange), ("inf", .outOfRange), ("-inf", .outOfRange),
            ("1.0001", .outOfRange), ("-0.0001", .outOfRange), ("1e300", .outOfRange),
        ] as [(String, PriorityError)])
    func whatIsNoPriorityIsRefused(_ text: String, _ error: PriorityError) {
        #expect(throws: error) { try Priority.parse(text) }
    }
}

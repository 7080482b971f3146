import Foundation
import Testing

@testable import PrefetchVolumeCapacity

@Suite struct CapacityModelCodingTests {
    @Test func whatIsNotSaidIsTheDefault() throws {
        var expected = CapacityModel()
        for text in ["{}", #"{"cap": null}"#, #"{"comment": "ours", "caps": 5}"#] {
            #expect(try decode(text) == expected)
        }
        expected.reserveLimit = 1_000_000
        #expect(try decode(#"{"reserveLimit": 1000000}"#) == expected)
    }

    @Test(arguments: [#"{"cap": "16 GiB"}"#, #"{"cap": 0.5}"#, #"{"cap": 1e30}"#, "[]", "3"])
    func whatIsNoWholeNumberIsAnError(_ text: String) {
        #expect(throws: DecodingError.self) { try decode(text) }
    }

    @Test func everyConstantSurvivesTheRoundTrip() throws {
        var model = CapacityModel()
        for (number, constant) in CapacityModel.constants.enumerated() {
            model[keyPath: constant.path] = Int64(number) + 1
        }
        let data = try JSONEncoder().encode(model)
        #expect(try JSONDecoder().decode(CapacityModel.self, from: data) == model)
    }

    /// So that a new constant cannot be forgotten in what is coded and checked.
    @Test func everyPropertyIsAConstantOfItsName() {
        let properties = Mirror(reflecting: CapacityModel()).children.compactMap(\.label)
        #expect(CapacityModel.constants.map(\.name) == properties)
        for (number, constant) in CapacityModel.constants.enumerated() {
            var model = CapacityModel()
            model[keyPath: constant.path] = -7
            let values = Mirror(reflecting: model).children.map { $0.value as? Int64 }
            #expect(values.firstIndex(of: -7) == number, "\(constant.name)")
        }
    }

    private func decode(_ text: String) throws -> CapacityModel {
        try JSONDecoder().decode(CapacityModel.self, from: Data(text.utf8))
    }
}

@Suite struct CapacityModelProblemTests {
    @Test func theDefaultModelHasNone() {
        #expect(CapacityModel().problem == nil)
    }

    @Test(arguments: CapacityModel.constants.map(\.name))
    func aNegativeConstantIsOne(_ name: String) throws {
        let problem = try #require(try changed(name, -1).problem)
        #expect(problem.hasPrefix("\(name) is -1; it must be at least "))
    }

    @Test(arguments: [
        "lowPerMille", "reservePerMille", "firstSharePerMille", "secondSharePerMille", "lastSharePerMille",
        "growthPerMille",
    ])
    func aPartThatIsMoreThanTheWholeIsOne(_ name: String) throws {
        #expect(try changed(name, 1000).problem == nil)
        #expect(try changed(name, 1001).problem == "\(name) is 1001; it must be at most 1000")
    }

    @Test(arguments: ["quantumLimit", "quantumDivisor"])
    func aQuantumOfNothingIsOne(_ name: String) throws {
        #expect(try changed(name, 1).problem == nil)
        #expect(try changed(name, 0).problem == "\(name) is 0; it must be at least 1")
    }

    @Test(
        arguments: [
            ("elevatedLeavePerMille", 1000, "elevatedEnterPerMille"),
            ("lowLeavePerMille", 1500, "lowEnterPerMille"),
            ("criticalLeavePerMille", 1000, "criticalEnterPerMille"),
            ("lowEnterPerMille", 1000, "criticalEnterPerMille"),
            ("secondShareEnd", 4 << 30, "firstShareEnd"),
        ] as [(String, Int64, String)])
    func whatMustNotBeLessThanItsCounterpartIsOne(_ name: String, _ least: Int64, _ other: String) throws {
        #expect(try changed(name, least).problem == nil)
        #expect(
            try changed(name, least - 1).problem
                == "\(name) is \(least - 1); it must be at least \(other), which is \(least)")
    }

    private func changed(_ name: String, _ value: Int64) throws -> CapacityModel {
        let constant = try #require(CapacityModel.constants.first { $0.name == name })
        var model = CapacityModel()
        model[keyPath: constant.path] = value
        return model
    }
}

import Foundation
import Testing

@testable import PrefetchVolumeCapacity

@Suite struct CapacityModelCodingTests {
    @Test func anEmptyObjectIsTheDefaultModel() throws {
        #expect(try decode("{}") == CapacityModel())
    }

    @Test func aSingleConstantLeavesTheOthersAtTheirDefaults() throws {
        var expected = CapacityModel()
        expected.reserveLimit = 1_000_000
        #expect(try decode(#"{"reserveLimit": 1000000}"#) == expected)
    }

    @Test func aNullIsAMissingConstant() throws {
        #expect(try decode(#"{"cap": null}"#) == CapacityModel())
    }

    @Test func unknownNamesAreIgnored() throws {
        #expect(try decode(#"{"comment": "ours", "caps": 5}"#) == CapacityModel())
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

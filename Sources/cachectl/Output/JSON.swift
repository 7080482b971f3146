internal import Foundation

/// JSON that is the same for equal values, and harmless on a terminal.
enum JSON {
    /// The `schemaVersion` of every printed object. Names and meanings do not change within one version; names
    /// may be added.
    static let schemaVersion = 1

    /// The text of a top-level object, with its ``schemaVersion``.
    static func document(_ object: JSONObject, isPretty: Bool) throws -> String {
        try text(of: object.adding(["schemaVersion": schemaVersion]), isPretty: isPretty)
    }

    static func text(of value: some Encodable, isPretty: Bool) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        // JSON allows in a string what a terminal obeys: DEL, the controls above it, and those of bidirectional text. The
        // encoder has escaped the controls below the space; any that are left are layout.
        return text.replacing({ $0.value >= 0x7F && $0.isTerminalHazard }) { scalar in
            // All of them have at most four digits.
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

/// A JSON object: what a value of the library encodes itself as. Its names are written out, so that those that scripts
/// rely on stay when the library's change.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private var members: [(name: Name, value: any Encodable)]

    /// - Parameter members: Those that are `nil` are left out; ``Swift/Optional/orNull`` writes them as `null`.
    init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        self.members = members.compactMap { name, value in value.map { (Name(stringValue: name), $0) } }
    }

    func adding(_ more: JSONObject) -> JSONObject {
        var sum = self
        sum.members += more.members
        return sum
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members { try container.encode(value, forKey: name) }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}

extension Optional where Wrapped: Encodable {
    /// The value, or `null` in JSON, where the name must not be missing.
    var orNull: any Encodable { self as any Encodable }
}

internal import Foundation

/// Deterministic JSON that is safe to print on a terminal.
enum JSON {
    /// The `schemaVersion` of every printed object. Within one version, names may be added, but existing names keep
    /// their meaning.
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
        // JSON strings may contain characters that terminals interpret: DEL, C1 controls and bidirectional controls.
        // The encoder has already escaped C0 controls; those that remain are its own line breaks.
        // All hazards are in the BMP, so four digits suffice.
        return text.replacing({ $0.value >= 0x7F && $0.isTerminalHazard }) {
            String(format: "\\u%04x", $0.value)
        }
    }
}

/// A JSON object. Its names are spelled out rather than derived from the library's types, so that scripts keep working
/// when the library changes.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private var members: [(name: Name, value: any Encodable)]

    /// - Parameter members: Members that are `nil` are omitted; ``Swift/Optional/orNull`` writes them as `null`.
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
    /// The value, or `null` in JSON, for names that must always be present.
    var orNull: any Encodable { self as any Encodable }
}

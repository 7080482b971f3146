internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

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

// The library's values as JSON. Scripts rely on the names: do not change them.

extension CachedItem {
    func json(in place: Place) -> JSONObject {
        [
            "status": "cached", "key": key.string, "source": source, "intent": intent.name,
            "contentBytes": contentBytes, "storedBytes": storedBytes, "chargedBytes": chargedBytes,
            "encoding": encoding.name, "destination": destination?.json,
            "path": place.relativePath(location), "priority": priority, "storedAtMilliseconds": storedAt,
            "expiresAtMilliseconds": expiresAt.orNull, "lastUse": lastUse,
        ]
    }
}

extension PartialItem {
    var json: JSONObject {
        [
            "status": "partial", "key": key.string, "source": source, "contentBytes": contentBytes,
            "storedBytes": storedBytes, "chargedBytes": chargedBytes, "destination": destination?.json,
            "keptAtMilliseconds": keptAt, "expiresAtMilliseconds": expiresAt,
        ]
    }
}

extension PromotedFile {
    func json(in place: Place) -> JSONObject {
        let object: JSONObject = [
            "status": "promoted", "key": key.string, "area": location.area.name,
            "path": place.relativePath(location), "backup": backup.name, "contentBytes": contentBytes,
            // `null` if the file no longer exists or cannot be accessed.
            "presentBytes": presentBytes.orNull, "openedAtMilliseconds": openedAt,
        ]
        return object.adding(history)
    }

    /// As `show` prints it.
    var jsonAsShown: JSONObject {
        jsonAsOpened.adding(["backup": backup.name, "openedAtMilliseconds": openedAt]).adding(history)
    }

    /// Where the file came from; empty if that was not recorded.
    private var history: JSONObject {
        let attributes = provenance?.attributes ?? []
        return [
            "adopted": isAdopted, "source": provenance?.source, "intent": provenance?.intent.name,
            "storedAtMilliseconds": provenance?.storedAt, "entityTag": provenance?.validator.entityTag,
            "lastModified": provenance?.validator.lastModified, "url": provenance?.url?.absoluteString,
            "attributes": attributes.isEmpty ? nil : Data(attributes).base64EncodedString(),
        ]
    }

    /// As `open` and `show` print it.
    var jsonAsOpened: JSONObject {
        [
            "key": key.string, "path": path.json, "area": location.area.name, "folder": folder?.string,
            "name": name.string, "contentBytes": contentBytes,
        ]
    }
}

extension Destination {
    var json: JSONObject {
        ["area": area.name, "folder": folder?.string, "name": name.string, "backup": backup.name]
    }

    /// `area/folder/name`
    var text: String { [area.name, folder?.string, name.string].compactMap(\.self).joined(separator: "/") }
}

extension FilePath {
    /// The path as a string; if it is not UTF-8, which JSON cannot represent, an object with its bytes in Base64.
    var json: any Encodable {
        guard !isText else { return displayText }
        return ["text": displayText, "base64": Data(bytes).base64EncodedString()] as JSONObject
    }
}

extension CacheStatistics {
    var json: JSONObject {
        [
            "items": items, "contentBytes": contentBytes, "storedBytes": storedBytes,
            "chargedBytes": chargedBytes, "budgetBytes": budgetBytes, "pressure": pressure.rawValue,
            "hits": hits, "misses": misses, "stores": stores, "promotions": promotions,
            "evictions": evictions, "evictedBytes": evictedBytes, "refusals": refusals,
            "catalogBytes": catalogBytes, "quarantinedItems": quarantinedItems, "partials": partials,
            "partialBytes": partialBytes,
        ]
    }
}

extension Intent {
    var name: String { self == .userRequested ? "userRequested" : "opportunistic" }
}

extension BackupPolicy {
    var name: String { self == .include ? "include" : "exclude" }
}

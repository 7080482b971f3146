internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

// The values of the cache that several commands print, as JSON: the names are the command's, and stay.

extension CachedItem {
    func json(in place: Place) -> JSONObject {
        [
            "status": "cached", "key": key.string, "source": source, "intent": intent.name,
            "contentBytes": contentLength, "storedBytes": storedLength, "chargedBytes": chargedLength,
            "encoding": encoding.name, "destination": destination.json,
            "path": place.relativePath(location), "priority": priority, "storedAtMilliseconds": storedAt,
            "expiresAtMilliseconds": expiresAt.orNull, "lastUse": lastUse,
        ]
    }
}

extension KeptPartial {
    var json: JSONObject {
        [
            "status": "partial", "key": key.string, "source": source, "contentBytes": contentLength,
            "storedBytes": storedLength, "chargedBytes": chargedLength, "destination": destination.json,
            "keptAtMilliseconds": keptAt, "expiresAtMilliseconds": expiresAt,
        ]
    }
}

extension PromotedFile {
    func json(in place: Place) -> JSONObject {
        [
            "status": "promoted", "key": key.string, "area": location.area.name,
            "path": place.relativePath(location), "backup": backup.name, "contentBytes": contentLength,
            // `null` when there is no file now, or it cannot be accessed.
            "presentBytes": presentLength.orNull, "openedAtMilliseconds": openedAt,
        ]
    }
}

extension OpenedItem {
    var json: JSONObject {
        [
            "key": key.string, "path": path.json, "area": location.area.name, "folder": folder?.string,
            "name": fileName, "contentBytes": contentLength,
        ]
    }

    var fileName: String { location.relative.lastComponent?.string ?? "" }
}

extension Destination {
    var json: JSONObject {
        ["area": area.name, "folder": folder?.string, "name": name.string, "backup": backup.name]
    }

    /// The area, the folder and the name as one text.
    var text: String { [area.name, folder?.string, name.string].compactMap(\.self).joined(separator: "/") }
}

extension FilePath {
    /// The text, and all bytes in Base64 where they are not text, which JSON cannot represent.
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

extension SourceUsage {
    var json: JSONObject {
        [
            "source": source, "items": items, "contentBytes": contentBytes, "storedBytes": storedBytes,
            "chargedBytes": chargedBytes,
        ]
    }
}

extension Intent {
    var name: String { self == .userRequested ? "userRequested" : "opportunistic" }
}

extension BackupPolicy {
    var name: String { self == .include ? "include" : "exclude" }
}

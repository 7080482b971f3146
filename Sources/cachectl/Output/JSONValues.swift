internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

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
            "status": "partial", "key": key.string, "source": source, "intent": intent.name,
            "contentBytes": contentBytes, "storedBytes": storedBytes, "chargedBytes": chargedBytes,
            "destination": destination?.json,
            "keptAtMilliseconds": keptAt, "expiresAtMilliseconds": expiresAt,
        ]
    }
}

extension PromotedFile {
    func json(in place: Place) -> JSONObject {
        let object: JSONObject = [
            "status": presentBytes == nil ? "lost" : "promoted", "key": key.string,
            "area": location.area.name,
            "path": place.relativePath(location), "backup": backup.name, "contentBytes": contentBytes,
            // `null` if the file no longer exists or cannot be accessed.
            "presentBytes": presentBytes.orNull, "openedAtMilliseconds": openedAt,
        ]
        return object.adding(history)
    }

    /// As `show` prints it.
    var jsonAsShown: JSONObject {
        jsonAsOpened.adding(["backup": backup.name, "openedAtMilliseconds": openedAt]).adding(history)
            .adding(parts.json)
    }

    /// Where the file came from; empty if that was not recorded.
    private var history: JSONObject {
        [
            "adopted": isAdopted, "source": provenance?.source, "intent": provenance?.intent.name,
            "storedAtMilliseconds": provenance?.storedAt, "entityTag": provenance?.validator.entityTag,
            "lastModified": provenance?.validator.lastModified, "url": provenance?.url?.absoluteString,
            "attributes": provenance?.attributes.json,
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

extension ItemMetadata {
    /// What only the file of a cached item tells.
    var origin: JSONObject {
        let origin: JSONObject = [
            "entityTag": validator.entityTag, "lastModified": validator.lastModified,
            "url": url?.absoluteString, "attributes": attributes.json,
        ]
        return origin.adding(parts.json)
    }
}

extension [UInt8] {
    /// Base64; `nil` if there are none.
    fileprivate var json: String? { isEmpty ? nil : Data(self).base64EncodedString() }
}

extension [BundlePart] {
    /// The files of a bundle; empty for a single file.
    var json: JSONObject {
        guard !isEmpty else { return [:] }
        return ["files": map { ["path": $0.path.string, "contentBytes": $0.contentBytes] as JSONObject }]
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

internal import VolumeCapacity

/// The JSON form: defaults are left out, and missing names have their defaults.
extension CacheConfiguration: Codable {
    static let schemaVersion = 1

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case schemaVersion, budgetBytes, budgetCapBytes, largestItemBytes, storing, evictionPolicy,
            capacityModel
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let version = try values.decodeIfPresent(Int.self, forKey: .schemaVersion) ?? Self.schemaVersion
        guard version <= Self.schemaVersion else {
            throw ConfigurationProblem(
                "it has version \(version), which is newer than \(Self.schemaVersion); update the software")
        }
        try decoder.requireNames(CodingKeys.allCases.map(\.rawValue), in: "it")
        if try values.decodeIfPresent(CapacityModel.self, forKey: .capacityModel) != nil {
            try values.superDecoder(forKey: .capacityModel).requireNames(
                CapacityModel.names, in: "capacityModel")
        }
        switch (try values.byteCount(forKey: .budgetBytes), try values.byteCount(forKey: .budgetCapBytes)) {
        case (nil, nil): budget = .automatic
        case (let bytes?, nil): budget = .fixed(bytes)
        case (nil, let cap?): budget = .automaticUpTo(cap)
        case (_?, _?):
            throw ConfigurationProblem(
                "it has both budgetBytes, which fixes the budget, and budgetCapBytes, which limits an automatic one"
            )
        }
        largestItem = try values.byteCount(forKey: .largestItemBytes)
        isStoringEnabled = try values.decodeIfPresent(Bool.self, forKey: .storing) ?? true
        if let name = try values.decodeIfPresent(String.self, forKey: .evictionPolicy) {
            guard let policy = EvictionPolicyChoice(rawValue: name) else {
                let known = EvictionPolicyChoice.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationProblem("evictionPolicy is '\(name)'; it must be one of \(known)")
            }
            evictionPolicy = policy
        }
        capacityModel =
            try values.decodeIfPresent(CapacityModel.self, forKey: .capacityModel) ?? CapacityModel()
        if let problem { throw ConfigurationProblem(problem) }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.schemaVersion, forKey: .schemaVersion)
        switch budget {
        case .automatic: break
        case .automaticUpTo(let cap): try values.encode(cap.bytes, forKey: .budgetCapBytes)
        case .fixed(let bytes): try values.encode(bytes.bytes, forKey: .budgetBytes)
        }
        try values.encodeIfPresent(largestItem?.bytes, forKey: .largestItemBytes)
        if !isStoringEnabled { try values.encode(false, forKey: .storing) }
        if evictionPolicy != .lru { try values.encode(evictionPolicy.rawValue, forKey: .evictionPolicy) }
        if capacityModel != CapacityModel() { try values.encode(capacityModel, forKey: .capacityModel) }
    }
}

/// What is wrong with a `configuration.json` that is valid JSON.
struct ConfigurationProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Any name in a JSON object.
private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue _: Int) { nil }
}

extension Decoder {
    /// Refuses unknown names: a limit under a mistyped name would have no effect.
    fileprivate func requireNames(_ known: [String], in place: String) throws {
        let names = try container(keyedBy: Name.self).allKeys.map(\.stringValue)
        guard let unknown = names.filter({ !known.contains($0) }).min() else { return }
        throw ConfigurationProblem(
            "\(place) has '\(unknown)', which is none of \(known.joined(separator: ", "))")
    }
}

extension KeyedDecodingContainer {
    fileprivate func byteCount(forKey key: Key) throws -> ByteCount? {
        guard let bytes = try decodeIfPresent(Int64.self, forKey: key) else { return nil }
        guard bytes >= 0 else {
            throw ConfigurationProblem("\(key.stringValue) is \(bytes); it must not be negative")
        }
        return .bytes(bytes)
    }
}

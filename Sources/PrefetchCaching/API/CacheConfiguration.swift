public import PrefetchFileSystem
public import PrefetchVolumeCapacity

/// The settings that the app and `cachectl` share, kept in `configuration.json`.
public struct CacheConfiguration: Hashable, Sendable {
    /// The most charged bytes that all files of the cache may take together.
    public enum Budget: Hashable, Sendable {
        /// As much as the volume can spare, see ``CapacityModel``. The default.
        case automatic
        /// As much as the volume can spare, and at most this.
        case automaticUpTo(ByteCount)
        /// This many bytes, whatever the size of the volume. Nothing is stored, however, when that would
        /// leave the volume short of space.
        case fixed(ByteCount)
    }

    /// The budget of the cache.
    public var budget = Budget.automatic
    /// The most charged bytes that one item may take; `nil` stands for half the budget.
    public var largestItem: ByteCount?
    /// Whether new items are stored. Items that are cached can be read and opened in any case.
    public var isStoringEnabled = true
    /// Which items are evicted first when space is needed.
    public var evictionPolicy = EvictionPolicyChoice.lru
    /// When the files of the cache, and those that it hands over, can be read on a device that protects files.
    /// Downloads in the background need ``FileProtection/completeUntilFirstUserAuthentication`` or less. Files that
    /// exist keep the protection that they were created with.
    public var fileProtection = FileProtection.completeUntilFirstUserAuthentication
    /// The constants from which budget and pressure are derived.
    public var capacityModel = CapacityModel()

    /// Creates a configuration with a budget, and the defaults for everything else.
    public init(budget: Budget = .automatic) {
        self.budget = budget
    }

    /// The reason why this configuration cannot be used, or `nil`.
    var problem: String? { capacityModel.problem.map { "capacityModel: \($0)" } }

    /// The most charged bytes that an item may take under a budget of `budget` bytes.
    func largestItemBytes(in budget: Int64) -> Int64 {
        min(budget, largestItem?.bytes ?? budget / 2)
    }
}

/// The JSON form: defaults are left out, and missing names have their defaults.
extension CacheConfiguration: Codable {
    static let schemaVersion = 1

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case schemaVersion, budgetBytes, budgetCapBytes, largestItemBytes, storing, evictionPolicy,
            fileProtection, capacityModel
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
            // These two were written before 1.0, and chose nearly the same victims.
            let name = ["fifo", "sieve"].contains(name) ? "lru" : name
            guard let policy = EvictionPolicyChoice(rawValue: name) else {
                let known = EvictionPolicyChoice.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationProblem("evictionPolicy is '\(name)'; it must be one of \(known)")
            }
            evictionPolicy = policy
        }
        if let name = try values.decodeIfPresent(String.self, forKey: .fileProtection) {
            guard let protection = FileProtection(rawValue: name) else {
                let known = FileProtection.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationProblem("fileProtection is '\(name)'; it must be one of \(known)")
            }
            fileProtection = protection
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
        if fileProtection != .completeUntilFirstUserAuthentication {
            try values.encode(fileProtection.rawValue, forKey: .fileProtection)
        }
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

extension Decoder {
    /// Refuses unknown names: a limit under a mistyped name would have no effect.
    fileprivate func requireNames(_ known: [String], in place: String) throws {
        let names = try container(keyedBy: AnyCodingKey.self).allKeys.map(\.stringValue)
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

/// A number of bytes, from 0 to `Int64.max`.
public struct ByteCount: Hashable, Sendable, Comparable {
    /// The number of bytes, at least 0.
    public let bytes: Int64

    private init(_ bytes: Int64) {
        self.bytes = bytes
    }

    /// Returns `count` bytes. A negative `count` becomes 0.
    public static func bytes(_ count: Int64) -> ByteCount { ByteCount(max(0, count)) }
    /// Returns `count` × 1,024 bytes. A negative `count` becomes 0, and an overflow `Int64.max`.
    public static func kibibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 10) }
    /// Returns `count` × 1,024² bytes. A negative `count` becomes 0, and an overflow `Int64.max`.
    public static func mebibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 20) }
    /// Returns `count` × 1,024³ bytes. A negative `count` becomes 0, and an overflow `Int64.max`.
    public static func gibibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 30) }

    private static func scaled(_ count: Int, _ unit: Int64) -> ByteCount {
        let (bytes, overflow) = Int64(max(0, count)).multipliedReportingOverflow(by: unit)
        return ByteCount(overflow ? .max : bytes)
    }

    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension CapacityModel: Codable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue _: Int) { nil }
    }

    /// The names of all constants.
    package static var names: [String] { constants.map(\.name) }

    /// Decodes a model. A constant that is missing or `null` has its default; unknown names are ignored.
    public init(from decoder: any Decoder) throws {
        self.init()
        let values = try decoder.container(keyedBy: Name.self)
        for constant in Self.constants {
            let name = Name(stringValue: constant.name)
            if let value = try values.decodeIfPresent(Int64.self, forKey: name) {
                self[keyPath: constant.path] = value
            }
        }
    }

    /// Encodes all constants, including those with their defaults.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Name.self)
        for constant in Self.constants {
            try values.encode(self[keyPath: constant.path], forKey: Name(stringValue: constant.name))
        }
    }
}

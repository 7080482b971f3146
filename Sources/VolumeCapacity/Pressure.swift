/// How short of space a volume is.
public enum Pressure: String, Sendable, Hashable, CaseIterable, Codable {
    case normal, elevated, low, critical
}

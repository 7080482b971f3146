// Values of Foundation. The same calls compile on Linux against swift-foundation, whose declarations these are. What is
// Apple's alone has its declaration beside it. Bodies are never run.

@_exported public import Darwin
@_exported public import Dispatch

public typealias TimeInterval = Double

public struct Data: Hashable, Sendable, Codable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection,
    CustomStringConvertible
{
    public typealias Index = Int
    public typealias Element = UInt8

    public enum Deallocator {
        case none, free, unmap
        case custom((UnsafeMutableRawPointer, Int) -> Void)
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let atomic = Self(rawValue: 1)
    }
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public struct Base64EncodingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }

    public init() {}
    public init(count: Int) {}
    public init(capacity: Int) {}
    public init<S: Sequence>(_ elements: S) where S.Element == UInt8 {}
    public init(bytesNoCopy bytes: UnsafeMutableRawPointer, count: Int, deallocator: Deallocator) {}
    public init(contentsOf url: URL, options: ReadingOptions = []) throws {}
    public init(from decoder: any Decoder) throws { fatalError() }
    public func encode(to encoder: any Encoder) throws { fatalError() }

    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public var count: Int { get { 0 } set { fatalError() } }
    public var description: String { "" }
    public subscript(index: Int) -> UInt8 { get { 0 } set { fatalError() } }
    public subscript(bounds: Range<Int>) -> Data { get { self } set { fatalError() } }
    public mutating func replaceSubrange<C: Collection>(_ subrange: Range<Int>, with newElements: C)
    where C.Element == UInt8 {}
    public mutating func append(_ other: Data) {}
    public mutating func append(contentsOf bytes: [UInt8]) {}
    public mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {}
    public struct SearchOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let backwards = SearchOptions(rawValue: 1 << 2)
        public static let anchored = SearchOptions(rawValue: 1 << 3)
    }
    public func range(of dataToFind: Data, options: SearchOptions = [], in range: Range<Int>? = nil) -> Range<Int>? {
        nil
    }
    public func subdata(in range: Range<Int>) -> Data { self }
    public func withUnsafeBytes<ResultType>(_ body: (UnsafeRawBufferPointer) throws -> ResultType) rethrows
        -> ResultType
    { fatalError() }
    public mutating func withUnsafeMutableBytes<ResultType>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> ResultType
    ) rethrows -> ResultType { fatalError() }
    public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
    public func write(to url: URL, options: WritingOptions = []) throws {}
    public static func == (one: Data, other: Data) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
}

public struct Date: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public static var now: Date { Date() }
    public init() {}
    public init(timeIntervalSince1970: TimeInterval) {}
    public var timeIntervalSince1970: TimeInterval { 0 }
    public var description: String { "" }
    public static func < (one: Date, other: Date) -> Bool { fatalError() }

    public struct ISO8601FormatStyle: FormatStyle {
        public func format(_ value: Date) -> String { "" }
    }
    public func formatted<F: FormatStyle>(_ format: F) -> F.FormatOutput where F.FormatInput == Date {
        format.format(self)
    }
}

public protocol FormatStyle: Codable, Hashable {
    associatedtype FormatInput
    associatedtype FormatOutput
    func format(_ value: FormatInput) -> FormatOutput
}

extension FormatStyle where Self == Date.ISO8601FormatStyle {
    public static var iso8601: Date.ISO8601FormatStyle { fatalError() }
}

public struct UUID: Hashable, Sendable, Codable {
    public init() {}
    public var uuidString: String { "" }
}

public struct TimeZone: Hashable, Sendable, Codable {
    public static var gmt: TimeZone { fatalError() }
    public static var current: TimeZone { fatalError() }
    public init?(identifier: String) { return nil }
}

public struct Locale: Hashable, Sendable, Codable {
    public init(identifier: String) {}
}

// class DateFormatter : Formatter, @unchecked Sendable
open class DateFormatter: NSObject, @unchecked Sendable {
    public override init() {}
    // var locale: Locale! { get set }
    open var locale: Locale! { get { nil } set {} }
    // var timeZone: TimeZone! { get set }
    open var timeZone: TimeZone! { get { nil } set {} }
    // var dateFormat: String! { get set }
    open var dateFormat: String! { get { nil } set {} }
    open func string(from date: Date) -> String { "" }
}

public struct Calendar: Hashable, Sendable, Codable {
    public enum Identifier: Hashable, Sendable, Codable { case gregorian, iso8601 }
    public init(identifier: Identifier) {}
}

public struct DateComponents: Hashable, Sendable, Codable {
    public init(
        calendar: Calendar? = nil, timeZone: TimeZone? = nil, era: Int? = nil, year: Int? = nil, month: Int? = nil,
        day: Int? = nil, hour: Int? = nil, minute: Int? = nil, second: Int? = nil, nanosecond: Int? = nil,
        weekday: Int? = nil, weekdayOrdinal: Int? = nil, quarter: Int? = nil, weekOfMonth: Int? = nil,
        weekOfYear: Int? = nil, yearForWeekOfYear: Int? = nil
    ) {}
    public var date: Date? { nil }
}

public protocol LocalizedError: Error {
    var errorDescription: String? { get }
    var failureReason: String? { get }
    var recoverySuggestion: String? { get }
    var helpAnchor: String? { get }
}

extension LocalizedError {
    public var errorDescription: String? { nil }
    public var failureReason: String? { nil }
    public var recoverySuggestion: String? { nil }
    public var helpAnchor: String? { nil }
}

extension Error {
    public var localizedDescription: String { "" }
}

open class ProcessInfo: @unchecked Sendable {
    public class var processInfo: ProcessInfo { fatalError() }
    public var activeProcessorCount: Int { 1 }
    public var environment: [String: String] { [:] }
    public var arguments: [String] { [] }
    public var processIdentifier: Int32 { 0 }

    // func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void)
    //     iOS 8.2, watchOS 2, visionOS 1; not of macOS
    @available(macOS, unavailable)
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
    // var isLowPowerModeEnabled: Bool { get }
    public var isLowPowerModeEnabled: Bool { false }
    // enum ProcessInfo.ThermalState : Int, @unchecked Sendable
    public enum ThermalState: Int, Sendable { case nominal = 0, fair = 1, serious = 2, critical = 3 }
    // var thermalState: ProcessInfo.ThermalState { get }
    public var thermalState: ThermalState { .nominal }
}

public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}
extension Data: DataProtocol {}
extension [UInt8]: DataProtocol {}
extension ArraySlice<UInt8>: DataProtocol {}
extension UnsafeRawBufferPointer: DataProtocol {}

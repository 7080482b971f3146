// What Foundation adds to strings, and its encoders. The same calls compile on Linux against swift-foundation, whose
// declarations these are. Nothing here is ever run: the bodies only let it compile. Names, and `@unchecked Sendable`, are
// those of Apple's declarations.
//
// swift-format-ignore-file

public struct CharacterSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    public static var whitespaces: CharacterSet { fatalError() }
    public static var newlines: CharacterSet { fatalError() }
    public static var whitespacesAndNewlines: CharacterSet { fatalError() }
    // Apple: struct CharacterSet : SetAlgebra, where Element is Unicode.Scalar
    public init(arrayLiteral elements: Unicode.Scalar...) {}
    public init(charactersIn string: String) {}
}

extension StringProtocol {
    public func trimmingCharacters(in set: CharacterSet) -> String { "" }
    public var decomposedStringWithCanonicalMapping: String { "" }
    public func components<T: StringProtocol>(separatedBy separator: T) -> [String] { [] }
    public func replacingOccurrences<Target: StringProtocol, Replacement: StringProtocol>(
        of target: Target, with replacement: Replacement
    ) -> String { "" }
    public var removingPercentEncoding: String? { nil }
    public func contains<T: StringProtocol>(_ other: T) -> Bool { false }
    public func range<T: StringProtocol>(of aString: T) -> Range<String.Index>? { nil }
    public func data(using encoding: String.Encoding, allowLossyConversion: Bool = false) -> Data? { nil }
    public func padding<T: StringProtocol>(toLength newLength: Int, withPad padString: T, startingAt padIndex: Int)
        -> String
    { "" }
}

extension String {
    public struct Encoding: Hashable, Sendable {
        public static let utf8 = Encoding()
        public static let ascii = Encoding()
    }
    public init(format: String, _ arguments: any CVarArg...) { fatalError() }
    public init?(data: Data, encoding: Encoding) { return nil }
    public init(contentsOf url: URL, encoding enc: Encoding) throws { fatalError() }
}

// Apple bridges a String argument to NSString, which is a CVarArg.
extension String: CVarArg {
    public var _cVarArgEncoding: [Int] { [] }
}

open class JSONEncoder {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let prettyPrinted = OutputFormatting(rawValue: 1 << 0)
        public static let sortedKeys = OutputFormatting(rawValue: 1 << 1)
        public static let withoutEscapingSlashes = OutputFormatting(rawValue: 1 << 3)
    }
    open var outputFormatting: OutputFormatting = []
    public init() {}
    open func encode<T: Encodable>(_ value: T) throws -> Data { fatalError() }
}

open class JSONDecoder {
    public init() {}
    open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}

open class PropertyListSerialization: NSObject {
    public struct ReadOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public enum PropertyListFormat: UInt, Sendable { case openStep = 1, xml = 100, binary = 200 }
    // Apple: class func propertyList(from data: Data, options opt: PropertyListSerialization.ReadOptions = [],
    //     format: UnsafeMutablePointer<PropertyListSerialization.PropertyListFormat>?) throws -> Any
    public class func propertyList(
        from data: Data, options opt: ReadOptions = [], format: UnsafeMutablePointer<PropertyListFormat>?
    ) throws -> Any { fatalError() }
}

open class JSONSerialization: NSObject {
    // struct JSONSerialization.ReadingOptions : OptionSet, @unchecked Sendable
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var fragmentsAllowed: ReadingOptions { ReadingOptions(rawValue: 4) }
    }
    // class func jsonObject(with data: Data, options opt: JSONSerialization.ReadingOptions = []) throws -> Any
    open class func jsonObject(with data: Data, options opt: ReadingOptions = []) throws -> Any { fatalError() }
}

// class NSNumber : NSValue, @unchecked Sendable
open class NSNumber: NSObject, @unchecked Sendable {
    open var boolValue: Bool { false }
    open var doubleValue: Double { 0 }
    // var objCType: UnsafePointer<CChar> { get }
    open var objCType: UnsafePointer<CChar> { fatalError() }
}

// What `error as NSError` calls.
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }

// let NSDebugDescriptionErrorKey: String
public let NSDebugDescriptionErrorKey = "NSDebugDescription"

// typealias NSRange = _NSRange
public struct NSRange: Hashable, Sendable {
    public var location: Int
    public var length: Int
    public init(location: Int, length: Int) { (self.location, self.length) = (location, length) }
}

// class NSTextCheckingResult : NSObject, NSCopying, NSSecureCoding, @unchecked Sendable
open class NSTextCheckingResult: NSObject, @unchecked Sendable {
    open var range: NSRange { fatalError() }
    open func range(at idx: Int) -> NSRange { fatalError() }
}

// class NSRegularExpression : NSObject, NSCopying, NSSecureCoding, @unchecked Sendable
open class NSRegularExpression: NSObject, @unchecked Sendable {
    // struct NSRegularExpression.Options : OptionSet, @unchecked Sendable
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    // struct NSRegularExpression.MatchingOptions : OptionSet, @unchecked Sendable
    public struct MatchingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var anchored: MatchingOptions { MatchingOptions(rawValue: 4) }
    }
    // init(pattern: String, options: NSRegularExpression.Options = []) throws
    public init(pattern: String, options: Options = []) throws {}
    open var pattern: String { "" }
    // class func escapedPattern(for string: String) -> String
    open class func escapedPattern(for string: String) -> String { "" }
    // func firstMatch(in string: String, options: NSRegularExpression.MatchingOptions = [], range: NSRange)
    //     -> NSTextCheckingResult?
    open func firstMatch(in string: String, options: MatchingOptions = [], range: NSRange) -> NSTextCheckingResult? {
        nil
    }
}

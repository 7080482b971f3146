// What is called of the module `os`: unified logging and signposts, the lock of the packages, and the memory of a process.

@_exported public import Darwin

// struct OSLogType : Equatable, RawRepresentable
public struct OSLogType: Equatable, RawRepresentable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }
    // OS_LOG_TYPE_DEFAULT = 0x00, _INFO = 0x01, _DEBUG = 0x02, _ERROR = 0x10, _FAULT = 0x11 (os/log.h)
    public static let `default` = OSLogType(0x00)
    public static let info = OSLogType(0x01)
    public static let debug = OSLogType(0x02)
    public static let error = OSLogType(0x10)
    public static let fault = OSLogType(0x11)
}

// class OSLog : NSObject, @unchecked Sendable
open class OSLog: @unchecked Sendable {
    public init(subsystem: String, category: String) {}
    public static let disabled = OSLog(subsystem: "", category: "")
}

// struct OSLogPrivacy
public struct OSLogPrivacy: Sendable {
    public static var `public`: OSLogPrivacy { OSLogPrivacy() }
    public static var `private`: OSLogPrivacy { OSLogPrivacy() }
    public static var sensitive: OSLogPrivacy { OSLogPrivacy() }
    public static var auto: OSLogPrivacy { OSLogPrivacy() }
}

// struct OSLogInterpolation : StringInterpolationProtocol
public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    // mutating func appendInterpolation(_ argumentString: @autoclosure @escaping () -> String,
    //     align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto, attributes: String = "")
    public mutating func appendInterpolation(
        _ argumentString: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
    ) {}
    // mutating func appendInterpolation<T: FixedWidthInteger>(_ number: @autoclosure @escaping () -> T,
    //     format: OSLogIntegerFormatting = .decimal, align: …, privacy: OSLogPrivacy = .auto, attributes: String = "")
    public mutating func appendInterpolation<T: FixedWidthInteger>(
        _ number: @autoclosure @escaping () -> T, privacy: OSLogPrivacy = .auto
    ) {}
}

// struct OSLogMessage : ExpressibleByStringInterpolation, ExpressibleByStringLiteral
public struct OSLogMessage: ExpressibleByStringInterpolation {
    public init(stringInterpolation: OSLogInterpolation) {}
    public init(stringLiteral value: String) {}
}

// struct Logger : @unchecked Sendable
public struct Logger: @unchecked Sendable {
    public init(subsystem: String, category: String) {}
    public init(_ logObj: OSLog) {}
    public func log(level: OSLogType, _ message: OSLogMessage) {}
    public func log(_ message: OSLogMessage) {}
    public func debug(_ message: OSLogMessage) {}
    public func info(_ message: OSLogMessage) {}
    public func notice(_ message: OSLogMessage) {}
    public func warning(_ message: OSLogMessage) {}
    public func error(_ message: OSLogMessage) {}
    public func fault(_ message: OSLogMessage) {}
}

// struct OSSignpostID : Hashable, @unchecked Sendable
public struct OSSignpostID: Hashable, Sendable {
    public static let exclusive = OSSignpostID()
}

// class OSSignpostIntervalState : Codable, @unchecked Sendable
public final class OSSignpostIntervalState: @unchecked Sendable {}

// struct OSSignposter : @unchecked Sendable
public struct OSSignposter: @unchecked Sendable {
    public init(subsystem: String, category: String) {}
    public var isEnabled: Bool { false }
    public func makeSignpostID() -> OSSignpostID { OSSignpostID() }
    // func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState
    {
        fatalError()
    }
    // func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState)
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {}
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) {}
}

// The few calls of Dispatch that are made. Most compile on Linux as well, against the open-source Dispatch, which has the
// same overlay. Bodies are never run.

@_exported public import Darwin

// class DispatchQueue : DispatchObject, @unchecked Sendable
open class DispatchQueue: @unchecked Sendable {
    // struct DispatchQueue.Attributes : OptionSet
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let concurrent = Attributes(rawValue: 1 << 1)
    }

    // class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue
    public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }

    // class func concurrentPerform(iterations: Int, execute work: (Int) -> Void)
    public class func concurrentPerform(iterations: Int, execute work: (Int) -> Void) { fatalError() }

    // func async(group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    //     execute work: @escaping @Sendable @convention(block) () -> Void)
    public func async(execute work: @escaping @Sendable @convention(block) () -> Void) { fatalError() }

    // func sync<T>(execute work: () throws -> T) rethrows -> T
    public func sync<T>(execute work: () throws -> T) rethrows -> T { fatalError() }
}

// struct DispatchQoS : Equatable
public struct DispatchQoS: Equatable, Sendable {
    // enum DispatchQoS.QoSClass
    public enum QoSClass: Sendable { case background, utility, `default`, userInitiated, userInteractive, unspecified }
    public static let utility = DispatchQoS()
    public static let userInitiated = DispatchQoS()
    public static let background = DispatchQoS()
}

// struct DispatchTime : Comparable
public struct DispatchTime: Comparable, Sendable {
    public static func now() -> DispatchTime { fatalError() }
    public static func < (a: DispatchTime, b: DispatchTime) -> Bool { fatalError() }
}

// func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime
public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { fatalError() }

// enum DispatchTimeInterval : Equatable
public enum DispatchTimeInterval: Equatable, Sendable {
    case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}

// enum DispatchTimeoutResult
public enum DispatchTimeoutResult: Sendable { case success, timedOut }

// class DispatchSemaphore : DispatchObject, @unchecked Sendable
open class DispatchSemaphore: @unchecked Sendable {
    public init(value: Int) {}
    public func wait() {}
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { fatalError() }
    @discardableResult public func signal() -> Int { fatalError() }
}

// class DispatchGroup : DispatchObject
open class DispatchGroup: @unchecked Sendable {
    public init() {}
    public func enter() {}
    public func leave() {}
    public func wait() {}
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { fatalError() }
}

// protocol DispatchSourceProtocol : NSObjectProtocol, Sendable
public protocol DispatchSourceProtocol: AnyObject, Sendable {
    // func setEventHandler(handler: DispatchSourceHandler?), where
    // typealias DispatchSourceHandler = @Sendable @convention(block) () -> Void
    func setEventHandler(handler: (@Sendable @convention(block) () -> Void)?)
    // func setRegistrationHandler(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    //     handler: Self.DispatchSourceHandler?)
    func setRegistrationHandler(handler: (@Sendable @convention(block) () -> Void)?)
    func activate()
    func resume()
    func cancel()
}

// protocol DispatchSourceSignal : DispatchSourceProtocol
public protocol DispatchSourceSignal: DispatchSourceProtocol {}

// class DispatchSource : DispatchObject
open class DispatchSource: @unchecked Sendable {
    // class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceSignal
    public class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceSignal {
        fatalError()
    }
}

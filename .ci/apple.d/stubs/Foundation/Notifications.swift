// Notifications, and those of the device's state, which are Apple's alone.

// class NSNotification : NSObject
open class NSNotification: NSObject {
    // struct NSNotification.Name : Hashable, Equatable, RawRepresentable, @unchecked Sendable
    public struct Name: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        // static let NSProcessInfoPowerStateDidChange: NSNotification.Name   macOS 12, iOS 9
        public static let NSProcessInfoPowerStateDidChange = Name(rawValue: "")
    }
}

// struct Notification, which is not Sendable
public struct Notification {
    public typealias Name = NSNotification.Name
    public var name: Name
    public var object: Any?
    public var userInfo: [AnyHashable: Any]?
}

@available(*, unavailable)
extension Notification: Sendable {}

// class NotificationCenter : NSObject, @unchecked Sendable
open class NotificationCenter: NSObject, @unchecked Sendable {
    // class var `default`: NotificationCenter { get }
    open class var `default`: NotificationCenter { fatalError() }

    // final class NotificationCenter.Notifications : AsyncSequence, Sendable, where Element is Notification
    public final class Notifications: AsyncSequence, Sendable {
        public struct Iterator: AsyncIteratorProtocol {
            // mutating func next() async -> Notification?
            public mutating func next() async -> Notification? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    // func notifications(named name: Notification.Name, object: (any AnyObject & Sendable)? = nil)
    //     -> NotificationCenter.Notifications
    public func notifications(named name: Notification.Name, object: (any AnyObject & Sendable)? = nil) -> Notifications {
        fatalError()
    }
}

extension ProcessInfo {
    // class let thermalStateDidChangeNotification: NSNotification.Name   macOS 10.10.3, iOS 11
    public class var thermalStateDidChangeNotification: NSNotification.Name { NSNotification.Name(rawValue: "") }
}

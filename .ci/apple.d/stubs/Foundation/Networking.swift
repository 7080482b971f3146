// URLSession and its types. Apple's declarations stand beside those that differ from FoundationNetworking, against which
// the same calls compile on Linux, and beside those that isolation depends on.

public struct URLRequest: Hashable, Sendable {
    // enum NSURLRequest.CachePolicy : UInt, @unchecked Sendable
    public typealias CachePolicy = NSURLRequest.CachePolicy
    // enum NSURLRequest.NetworkServiceType : UInt, @unchecked Sendable
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60
    ) {}
    public var url: URL?
    public var httpMethod: String?
    public var httpBody: Data?
    public var allHTTPHeaderFields: [String: String]?
    public var timeoutInterval: TimeInterval { get { 60 } set { fatalError() } }
    // var allowsExpensiveNetworkAccess: Bool { get set }   macOS 10.15, iOS 13
    public var allowsExpensiveNetworkAccess: Bool { get { true } set { fatalError() } }
    // var allowsConstrainedNetworkAccess: Bool { get set }   macOS 10.15, iOS 13
    public var allowsConstrainedNetworkAccess: Bool { get { true } set { fatalError() } }
    public func value(forHTTPHeaderField field: String) -> String? { nil }
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}

open class NSURLRequest: NSObject {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
    }
}

// class URLResponse : NSObject, NSSecureCoding, NSCopying, @unchecked Sendable
open class URLResponse: NSObject, @unchecked Sendable {
    open var url: URL? { nil }
}

// class HTTPURLResponse : URLResponse, @unchecked Sendable
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    open var statusCode: Int { 0 }
    // var allHeaderFields: [AnyHashable : Any] { get }
    open var allHeaderFields: [AnyHashable: Any] { [:] }
    // func value(forHTTPHeaderField field: String) -> String?
    open func value(forHTTPHeaderField field: String) -> String? { nil }
}

// struct URLError : _BridgedStoredNSError
public struct URLError: Error, Sendable {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static var cancelled: Code { Code(rawValue: -999) }
        public static var timedOut: Code { Code(rawValue: -1001) }
        public static var cannotFindHost: Code { Code(rawValue: -1003) }
        public static var cannotConnectToHost: Code { Code(rawValue: -1004) }
        public static var networkConnectionLost: Code { Code(rawValue: -1005) }
        public static var dnsLookupFailed: Code { Code(rawValue: -1006) }
        public static var notConnectedToInternet: Code { Code(rawValue: -1009) }
        public static var badServerResponse: Code { Code(rawValue: -1011) }
        public static var cannotParseResponse: Code { Code(rawValue: -1017) }
        public static var dataNotAllowed: Code { Code(rawValue: -1020) }
        public static var secureConnectionFailed: Code { Code(rawValue: -1200) }
        public static var serverCertificateHasBadDate: Code { Code(rawValue: -1201) }
        public static var serverCertificateUntrusted: Code { Code(rawValue: -1202) }
        public static var serverCertificateHasUnknownRoot: Code { Code(rawValue: -1203) }
        public static var serverCertificateNotYetValid: Code { Code(rawValue: -1204) }
    }
    // enum URLError.NetworkUnavailableReason : Int   { case cellular, expensive, constrained }
    public enum NetworkUnavailableReason: Int, Sendable { case cellular, expensive, constrained }
    public var code: Code { fatalError() }
    // var networkUnavailableReason: URLError.NetworkUnavailableReason? { get }
    public var networkUnavailableReason: NetworkUnavailableReason? { nil }
}

// class URLSessionConfiguration : NSObject, NSCopying, @unchecked Sendable
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    open class var `default`: URLSessionConfiguration { fatalError() }
    open class var ephemeral: URLSessionConfiguration { fatalError() }
    // class func background(withIdentifier identifier: String) -> URLSessionConfiguration
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    open var urlCache: URLCache?
    open var httpCookieStorage: HTTPCookieStorage?
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .always
    open var httpShouldSetCookies = true
    open var urlCredentialStorage: URLCredentialStorage?
    open var requestCachePolicy: NSURLRequest.CachePolicy = .useProtocolCachePolicy
    open var httpMaximumConnectionsPerHost = 6
}

open class URLCache: NSObject {}
open class HTTPCookieStorage: NSObject {}
open class URLCredentialStorage: NSObject {}
open class HTTPCookie: NSObject {
    public enum AcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain }
}

// class OperationQueue : NSObject, ProgressReporting, @unchecked Sendable
open class OperationQueue: NSObject, @unchecked Sendable {
}

// class URLSession : NSObject, @unchecked Sendable
open class URLSession: NSObject, @unchecked Sendable {
    // enum URLSession.ResponseDisposition : Int, @unchecked Sendable
    public enum ResponseDisposition: Int, Sendable { case cancel = 0, allow = 1, becomeDownload = 2, becomeStream = 3 }
    open class var shared: URLSession { fatalError() }
    // init(configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?)
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue queue: OperationQueue? = nil
    ) {}
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
    open func finishTasksAndInvalidate() {}
}

// class URLSessionTask : NSObject, NSCopying, ProgressReporting, @unchecked Sendable
open class URLSessionTask: NSObject, @unchecked Sendable {
    open var taskIdentifier: Int { 0 }
    open var response: URLResponse? { nil }
    open var error: (any Error)? { nil }
    open var priority: Float { get { 0.5 } set {} }
    open var delegate: (any URLSessionTaskDelegate)? { get { nil } set {} }
    open func resume() {}
    open func suspend() {}
    open func cancel() {}
}

// class URLSessionDataTask : URLSessionTask, @unchecked Sendable
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
// protocol URLSessionDelegate : NSObjectProtocol, Sendable. All requirements of these protocols are `optional`, which
// takes Objective-C: here they have implementations instead.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

// protocol URLSessionTaskDelegate : URLSessionDelegate
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    // optional func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
    // optional func urlSession(_ session: URLSession, task: URLSessionTask,
    //     willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    //     completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
}

// protocol URLSessionDataDelegate : URLSessionTaskDelegate
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    // optional func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    //     completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    // optional func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionTaskDelegate {
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {}
}

extension URLSessionDataDelegate {
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {}
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}

// URLs and the file system. What is Apple's alone has its declaration beside it: of Objective-C where it has one, from
// the headers that developer.apple.com quotes. The rest compiles on Linux as well, against the open-source Foundation.

public struct URL: Hashable, Sendable, Codable, CustomStringConvertible {
    public enum DirectoryHint: Sendable, Hashable { case isDirectory, notDirectory, checkFileSystem, inferFromPath }

    public init?(string: String) { return nil }
    public init?(string: String, relativeTo url: URL?) { return nil }
    public init(filePath path: String, directoryHint: DirectoryHint = .inferFromPath, relativeTo base: URL? = nil) {}

    public var absoluteString: String { "" }
    public var absoluteURL: URL { self }
    public var scheme: String? { nil }
    public var port: Int? { nil }
    public var path: String { "" }
    public var isFileURL: Bool { false }
    public var lastPathComponent: String { "" }
    public var pathExtension: String { "" }
    public var standardizedFileURL: URL { self }
    public var description: String { "" }
    public func host(percentEncoded: Bool = true) -> String? { nil }
    public func user(percentEncoded: Bool = true) -> String? { nil }
    public func password(percentEncoded: Bool = true) -> String? { nil }
    public func path(percentEncoded: Bool = true) -> String { "" }
    public func query(percentEncoded: Bool = true) -> String? { nil }
    public func appending<S: StringProtocol>(path: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { self }
    public func appending<S: StringProtocol>(component: S, directoryHint: DirectoryHint = .inferFromPath) -> URL {
        self
    }
    public func appendingPathComponent(_ pathComponent: String) -> URL { self }
    public func deletingLastPathComponent() -> URL { self }

    // func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues { fatalError() }
    // mutating func setResourceValues(_ values: URLResourceValues) throws
    public mutating func setResourceValues(_ values: URLResourceValues) throws {}
}

// struct URLResourceKey : Hashable, Equatable, RawRepresentable, @unchecked Sendable
public struct URLResourceKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    // static let volumeAvailableCapacityForImportantUsageKey: URLResourceKey
    //     macOS 10.13, iOS 11, Mac Catalyst, visionOS; not of tvOS and watchOS
    public static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey(rawValue: "")
    // static let volumeAvailableCapacityForOpportunisticUsageKey: URLResourceKey
    //     macOS 10.13, iOS 11, Mac Catalyst, visionOS; not of tvOS and watchOS
    public static let volumeAvailableCapacityForOpportunisticUsageKey = URLResourceKey(rawValue: "")
    // static let isExcludedFromBackupKey: URLResourceKey
    public static let isExcludedFromBackupKey = URLResourceKey(rawValue: "")
    // static let fileProtectionKey: URLResourceKey
    public static let fileProtectionKey = URLResourceKey(rawValue: "")
}

public struct URLResourceValues {
    public init() {}
    // var volumeAvailableCapacityForImportantUsage: Int64? { get }
    public var volumeAvailableCapacityForImportantUsage: Int64? { nil }
    // var volumeAvailableCapacityForOpportunisticUsage: Int64? { get }
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? { nil }
    // var isExcludedFromBackup: Bool? { get set }
    public var isExcludedFromBackup: Bool? { get { nil } set { fatalError() } }
}

public struct URLComponents: Hashable, Sendable {
    public init() {}
    public init?(string: String) { return nil }
    public init?(url: URL, resolvingAgainstBaseURL resolve: Bool) { return nil }
    public var scheme: String?
    public var user: String?
    public var password: String?
    public var host: String?
    public var query: String?
    public var fragment: String?
    public var percentEncodedUser: String?
    public var percentEncodedPassword: String?
    public var url: URL? { nil }
}

// @interface NSObject <NSObject>
public protocol NSObjectProtocol {}
open class NSObject: NSObjectProtocol {
    public init() {}
}

// class NSError : NSObject, NSCopying, NSSecureCoding, @unchecked Sendable
open class NSError: NSObject, Error, @unchecked Sendable {
    open var domain: String { "" }
    open var code: Int { 0 }
    open var userInfo: [String: Any] { [:] }
}

// typealias NSErrorPointer = AutoreleasingUnsafeMutablePointer<NSError?>?, whose pointer is of Objective-C alone
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

// let NSPOSIXErrorDomain: String, let NSCocoaErrorDomain: String, let NSUnderlyingErrorKey: String
public let NSPOSIXErrorDomain = ""
public let NSCocoaErrorDomain = ""
public let NSUnderlyingErrorKey = ""
// var NSUserCancelledError: Int { get }   (NSUserCancelledError = 3072, FoundationErrors.h)
public var NSUserCancelledError: Int { 3072 }

// struct CocoaError : _BridgedStoredNSError
public struct CocoaError: Error {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static var userCancelled: Code { Code(rawValue: 3072) }
    }
    // static var fileReadNoSuchFile: CocoaError.Code { get }   (NSFileReadNoSuchFileError = 260)
    public static var fileReadNoSuchFile: Code { Code(rawValue: 260) }
    public var code: Code { fatalError() }
}

// protocol _ErrorCodeProtocol has it for the codes of all such errors:
// static func ~= (match: Self, error: any Error) -> Bool
public func ~= (match: CocoaError.Code, error: any Error) -> Bool { fatalError() }

// enum POSIXErrorCode : Int32, whose cases are the errors of the C library
public struct POSIXErrorCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32
    public init?(rawValue: Int32) { self.rawValue = rawValue }
    public static var EIO: POSIXErrorCode { fatalError() }
}

// struct POSIXError : _BridgedStoredNSError
public struct POSIXError: Error {
    public typealias Code = POSIXErrorCode
    public init(_ code: Code, userInfo: [String: Any] = [:]) {}
    public var code: Code { fatalError() }
}

// protocol NSFilePresenter : NSObjectProtocol
public protocol NSFilePresenter: NSObjectProtocol {}

// class NSFileCoordinator : NSObject
open class NSFileCoordinator: NSObject {
    // typedef NS_OPTIONS(NSUInteger, NSFileCoordinatorReadingOptions)
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        // NSFileCoordinatorReadingWithoutChanges = 1 << 0
        public static var withoutChanges: ReadingOptions { ReadingOptions(rawValue: 1 << 0) }
        // NSFileCoordinatorReadingResolvesSymbolicLink = 1 << 1
        public static var resolvesSymbolicLink: ReadingOptions { ReadingOptions(rawValue: 1 << 1) }
        // NSFileCoordinatorReadingImmediatelyAvailableMetadataOnly = 1 << 2
        public static var immediatelyAvailableMetadataOnly: ReadingOptions { ReadingOptions(rawValue: 1 << 2) }
    }
    // typedef NS_OPTIONS(NSUInteger, NSFileCoordinatorWritingOptions)
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        // NSFileCoordinatorWritingForDeleting = 1 << 0
        public static var forDeleting: WritingOptions { WritingOptions(rawValue: 1 << 0) }
        // NSFileCoordinatorWritingForMoving = 1 << 1
        public static var forMoving: WritingOptions { WritingOptions(rawValue: 1 << 1) }
        // NSFileCoordinatorWritingForMerging = 1 << 2
        public static var forMerging: WritingOptions { WritingOptions(rawValue: 1 << 2) }
        // NSFileCoordinatorWritingForReplacing = 1 << 3
        public static var forReplacing: WritingOptions { WritingOptions(rawValue: 1 << 3) }
        // NSFileCoordinatorWritingContentIndependentMetadataOnly = 1 << 4
        public static var contentIndependentMetadataOnly: WritingOptions { WritingOptions(rawValue: 1 << 4) }
    }
    // - (instancetype)initWithFilePresenter:(nullable id<NSFilePresenter>)filePresenterOrNil
    public init(filePresenter filePresenterOrNil: (any NSFilePresenter)?) {}
    // - (void)coordinateReadingItemAtURL:(NSURL *)url options:(NSFileCoordinatorReadingOptions)options
    //     error:(NSError **)outError byAccessor:(void (NS_NOESCAPE ^)(NSURL *newURL))reader
    open func coordinate(
        readingItemAt url: URL, options: ReadingOptions = [], error outError: NSErrorPointer,
        byAccessor reader: (URL) -> Void
    ) {}
    // - (void)coordinateWritingItemAtURL:(NSURL *)url options:(NSFileCoordinatorWritingOptions)options
    //     error:(NSError **)outError byAccessor:(void (NS_NOESCAPE ^)(NSURL *newURL))writer
    open func coordinate(
        writingItemAt url: URL, options: WritingOptions = [], error outError: NSErrorPointer,
        byAccessor writer: (URL) -> Void
    ) {}
    // - (void)cancel   "This method may be called from any thread."
    open func cancel() {}
}

// class FileManager : NSObject
open class FileManager: NSObject {
    // enum FileManager.SearchPathDirectory : UInt, @unchecked Sendable
    public enum SearchPathDirectory: UInt, Sendable {
        case documentDirectory = 9
        case cachesDirectory = 13
        case applicationSupportDirectory = 14
    }
    // struct FileManager.SearchPathDomainMask : OptionSet, @unchecked Sendable
    public struct SearchPathDomainMask: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var userDomainMask: SearchPathDomainMask { SearchPathDomainMask(rawValue: 1) }
    }
    // class var `default`: FileManager { get }
    open class var `default`: FileManager { fatalError() }
    // func urls(for directory: FileManager.SearchPathDirectory, in domainMask: FileManager.SearchPathDomainMask) -> [URL]
    open func urls(for directory: SearchPathDirectory, in domainMask: SearchPathDomainMask) -> [URL] { [] }
    // func url(forUbiquityContainerIdentifier containerIdentifier: String?) -> URL?
    open func url(forUbiquityContainerIdentifier containerIdentifier: String?) -> URL? { nil }
    // func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL?
    open func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }

    open var temporaryDirectory: URL { fatalError() }
    open func contentsOfDirectory(atPath path: String) throws -> [String] { [] }
    open func destinationOfSymbolicLink(atPath path: String) throws -> String { "" }
    open func createSymbolicLink(atPath path: String, withDestinationPath destPath: String) throws {}
    open func isExecutableFile(atPath path: String) -> Bool { false }
    open func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    open var currentDirectoryPath: String { "" }
    open func contents(atPath path: String) -> Data? { nil }
    open func fileExists(atPath path: String) -> Bool { false }
    open func removeItem(at URL: URL) throws {}
    open func removeItem(atPath path: String) throws {}
    open func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
}

// struct FileAttributeKey : Hashable, Equatable, RawRepresentable, @unchecked Sendable
public struct FileAttributeKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let posixPermissions = FileAttributeKey(rawValue: "")
    // static let protectionKey: FileAttributeKey
    public static let protectionKey = FileAttributeKey(rawValue: "")
}

// func NSTemporaryDirectory() -> String
public func NSTemporaryDirectory() -> String { "" }

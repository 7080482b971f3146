// Processes, threads and their streams, of which tests use most. The same calls compile on Linux.

// class FileHandle : NSObject, @unchecked Sendable
open class FileHandle: NSObject, @unchecked Sendable {
    open class var standardError: FileHandle { fatalError() }
    open class var standardInput: FileHandle { fatalError() }
    open class var standardOutput: FileHandle { fatalError() }
    open class var nullDevice: FileHandle { fatalError() }
    public init(forWritingTo url: URL) throws {}
    open var fileDescriptor: Int32 { 0 }
    open var availableData: Data { Data() }
    // var readabilityHandler: (@Sendable (FileHandle) -> Void)?
    open var readabilityHandler: (@Sendable (FileHandle) -> Void)? {
        get { nil }
        set {}
    }
    open func write(_ data: Data) {}
    open func readDataToEndOfFile() -> Data { Data() }
    open func close() throws {}
}

// class Pipe : NSObject, @unchecked Sendable
open class Pipe: NSObject, @unchecked Sendable {
    public override init() {}
    open var fileHandleForReading: FileHandle { fatalError() }
    open var fileHandleForWriting: FileHandle { fatalError() }
}

// class Thread : NSObject
open class Thread: NSObject {
    // class func detachNewThread(_ block: @escaping @Sendable () -> Void)
    open class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
    open class func sleep(forTimeInterval ti: TimeInterval) {}
    open var name: String?
    open func start() {}
}

// class NSRecursiveLock : NSObject, NSLocking, @unchecked Sendable
open class NSRecursiveLock: NSObject, @unchecked Sendable {
    public override init() {}
    open func lock() {}
    open func unlock() {}
    public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() }
}

// class NSCondition : NSObject, NSLocking, @unchecked Sendable
open class NSCondition: NSObject, @unchecked Sendable {
    public override init() {}
    open func lock() {}
    open func unlock() {}
    open func wait() {}
    open func wait(until limit: Date) -> Bool { true }
    open func signal() {}
    open func broadcast() {}
    public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() }
}

#if os(macOS)
    // class Process : NSObject, @unchecked Sendable   of macOS alone
    open class Process: NSObject, @unchecked Sendable {
        // enum Process.TerminationReason : Int   { case exit = 1, uncaughtSignal = 2 }
        public enum TerminationReason: Int, Sendable { case exit = 1, uncaughtSignal = 2 }
        public override init() {}
        open var executableURL: URL? {
            get { nil }
            set {}
        }
        open var arguments: [String]? {
            get { nil }
            set {}
        }
        open var environment: [String: String]? {
            get { nil }
            set {}
        }
        open var currentDirectoryURL: URL? {
            get { nil }
            set {}
        }
        open var standardInput: Any? {
            get { nil }
            set {}
        }
        open var standardOutput: Any? {
            get { nil }
            set {}
        }
        open var standardError: Any? {
            get { nil }
            set {}
        }
        // var terminationHandler: (@Sendable (Process) -> Void)?
        open var terminationHandler: (@Sendable (Process) -> Void)? {
            get { nil }
            set {}
        }
        open var processIdentifier: Int32 { 0 }
        open var isRunning: Bool { false }
        open var terminationStatus: Int32 { 0 }
        open var terminationReason: TerminationReason { .exit }
        open func run() throws {}
        open func terminate() {}
        open func waitUntilExit() {}
    }
#endif

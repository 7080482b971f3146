// What the index and the ledger call of GRDB. It is the same on every platform, so that the ordinary build compiles all of
// it against GRDB itself. Bodies are never run.

public import Foundation

public final class DatabaseQueue: @unchecked Sendable {
    public init(path: String, configuration: Configuration = Configuration()) throws { fatalError() }
    public init(named name: String? = nil, configuration: Configuration = Configuration()) throws {
        fatalError()
    }
    public func read<T>(_ value: (Database) throws -> T) throws -> T { fatalError() }
    public func unsafeRead<T>(_ value: (Database) throws -> T) rethrows -> T { fatalError() }
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T { fatalError() }
    // Only compiled, as all of this.
    public func inDatabase<T>(_ updates: (Database) throws -> T) rethrows -> T { fatalError() }
    public func close() throws {}
}

public struct Configuration: Sendable {
    public var label: String?
    public var readonly = false
    public var busyMode: Database.BusyMode = .immediateError
    public init() {}
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {}
}

public final class Database {
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool
    public enum BusyMode: Sendable {
        case immediateError
        case timeout(TimeInterval)
        case callback(BusyCallback)
    }
    public enum TransactionKind: Sendable { case deferred, immediate, exclusive }
    public enum TransactionCompletion: Sendable { case commit, rollback }

    private init() {}
    public var sqliteConnection: OpaquePointer? { nil }
    public var changesCount: Int { 0 }
    public var lastInsertedRowID: Int64 { 0 }
    public var totalChangesCount: Int { 0 }
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {}
    public func cachedStatement(sql: String) throws -> Statement { fatalError() }
    public func tableExists(_ name: String, in schemaName: String? = nil) throws -> Bool { fatalError() }
    public func inTransaction(
        _ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion
    ) throws {}
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {}
}

@available(*, unavailable)
extension Database: Sendable {}

public final class Statement {
    private init() {}
    public func execute(arguments: StatementArguments? = nil) throws {}
}

@available(*, unavailable)
extension Statement: Sendable {}

public struct StatementArguments: Hashable, ExpressibleByArrayLiteral {
    public init() {}
    public init(_ values: some Sequence<(any DatabaseValueConvertible)?>) {}
    public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {}
}

public protocol Cursor<Element>: AnyObject {
    associatedtype Element
    func next() throws -> Element?
}

extension Cursor {
    public func forEach(_ body: (Element) throws -> Void) throws {}
    public func reduce<Result>(
        into initialResult: Result, _ updateAccumulatingResult: (inout Result, Element) throws -> Void
    ) throws -> Result { fatalError() }
}

public final class RowCursor: Cursor {
    private init() {}
    public func next() throws -> Row? { nil }
}

public final class Row {
    private init() {}
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value { fatalError() }

    public static func fetchCursor(_ statement: Statement, arguments: StatementArguments? = nil) throws
        -> RowCursor
    {
        fatalError()
    }
    public static func fetchAll(_ statement: Statement, arguments: StatementArguments? = nil) throws -> [Row]
    {
        fatalError()
    }
    public static func fetchOne(_ statement: Statement, arguments: StatementArguments? = nil) throws -> Row? {
        fatalError()
    }
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> RowCursor { fatalError() }
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Row] { fatalError() }
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Row? { fatalError() }
}

@available(*, unavailable)
extension Row: Sendable {}

public protocol DatabaseValueConvertible {}
public protocol StatementColumnConvertible {}

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    public static func fetchOne(_ statement: Statement, arguments: StatementArguments? = nil) throws -> Self?
    {
        fatalError()
    }
    public static func fetchAll(_ statement: Statement, arguments: StatementArguments? = nil) throws -> [Self]
    {
        fatalError()
    }
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Self? { fatalError() }
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] { fatalError() }
}

extension Bool: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int8: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int16: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int32: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int64: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt8: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt16: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt32: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt64: DatabaseValueConvertible, StatementColumnConvertible {}
extension Double: DatabaseValueConvertible, StatementColumnConvertible {}
extension String: DatabaseValueConvertible, StatementColumnConvertible {}
extension Data: DatabaseValueConvertible, StatementColumnConvertible {}
extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {}
extension Optional: StatementColumnConvertible where Wrapped: StatementColumnConvertible {}

public struct DatabaseError: Error, CustomStringConvertible {
    public init(
        resultCode: ResultCode = .SQLITE_ERROR, message: String? = nil, sql: String? = nil,
        arguments: StatementArguments? = nil, publicStatementArguments: Bool = false
    ) { fatalError() }
    public var resultCode: ResultCode { extendedResultCode }
    public let extendedResultCode: ResultCode
    public let message: String?
    public var description: String { "" }
}

public enum RowDecodingError: Error {}

/// The codes of `sqlite3.h`.
public struct ResultCode: RawRepresentable, Equatable, Sendable {
    public let rawValue: CInt
    public init(rawValue: CInt) { self.rawValue = rawValue }
    public static let SQLITE_OK = ResultCode(rawValue: 0)
    public static let SQLITE_ERROR = ResultCode(rawValue: 1)
    public static let SQLITE_PERM = ResultCode(rawValue: 3)
    public static let SQLITE_ABORT = ResultCode(rawValue: 4)
    public static let SQLITE_BUSY = ResultCode(rawValue: 5)
    public static let SQLITE_LOCKED = ResultCode(rawValue: 6)
    public static let SQLITE_NOMEM = ResultCode(rawValue: 7)
    public static let SQLITE_READONLY = ResultCode(rawValue: 8)
    public static let SQLITE_INTERRUPT = ResultCode(rawValue: 9)
    public static let SQLITE_IOERR = ResultCode(rawValue: 10)
    public static let SQLITE_CORRUPT = ResultCode(rawValue: 11)
    public static let SQLITE_FULL = ResultCode(rawValue: 13)
    public static let SQLITE_CANTOPEN = ResultCode(rawValue: 14)
    public static let SQLITE_PROTOCOL = ResultCode(rawValue: 15)
    public static let SQLITE_MISUSE = ResultCode(rawValue: 21)
    public static let SQLITE_SCHEMA = ResultCode(rawValue: 17)
    public static let SQLITE_CONSTRAINT = ResultCode(rawValue: 19)
    public static let SQLITE_AUTH = ResultCode(rawValue: 23)
    public static let SQLITE_NOTADB = ResultCode(rawValue: 26)
    public static let SQLITE_IOERR_READ = ResultCode(rawValue: 10 | 1 << 8)
    public static let SQLITE_IOERR_SHORT_READ = ResultCode(rawValue: 10 | 2 << 8)
    public static let SQLITE_IOERR_FSTAT = ResultCode(rawValue: 10 | 7 << 8)
    public static let SQLITE_IOERR_DELETE_NOENT = ResultCode(rawValue: 10 | 23 << 8)
    public static let SQLITE_IOERR_AUTH = ResultCode(rawValue: 10 | 28 << 8)
    public static let SQLITE_IOERR_CORRUPTFS = ResultCode(rawValue: 10 | 33 << 8)
    public static let SQLITE_READONLY_ROLLBACK = ResultCode(rawValue: 8 | 3 << 8)
    public static let SQLITE_READONLY_DBMOVED = ResultCode(rawValue: 8 | 4 << 8)
}

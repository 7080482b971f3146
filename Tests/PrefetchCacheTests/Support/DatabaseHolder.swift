import Foundation
import GRDB

/// A connection that holds the lock of a database between two statements, as a process does that was stopped there.
struct DatabaseHolder: Sendable {
    private let queue: DatabaseQueue

    init(_ database: URL) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        // The cache may just be writing.
        configuration.busyMode = .timeout(10)
        queue = try DatabaseQueue(path: database.path, configuration: configuration)
    }

    /// On this thread: Dispatch may have no other for as long as tests keep its threads busy.
    func execute(_ statement: String) throws {
        try queue.writeWithoutTransaction { try $0.execute(sql: statement) }
    }

    /// - Parameter excludesReaders: Not only who writes.
    func hold(excludesReaders: Bool = false) throws {
        try execute(excludesReaders ? "BEGIN EXCLUSIVE" : "BEGIN IMMEDIATE")
    }

    func letGo() throws { try execute("ROLLBACK") }
}

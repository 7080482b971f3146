internal import GRDB

/// A value that its column cannot hold: the file was damaged. SQLite itself does not notice on reading, not even NULL
/// in a column that is declared NOT NULL.
struct UnreadableValue: Error, CustomStringConvertible {
    let description: String
}

extension Row {
    /// The value in a column. GRDB's own `row[index]` ends the process for one of another type or beyond its bounds,
    /// of which one wrong bit can make either.
    ///
    /// - Throws: ``UnreadableValue``.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ index: Int, as type: Value.Type = Value.self
    ) throws -> Value {
        do {
            return try decode(Value.self, atIndex: index)
        } catch {
            throw UnreadableValue(description: "\(error)")
        }
    }
}

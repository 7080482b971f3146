package import PrefetchFileSystem

/// The value of a record in a database.
package struct SimulatedRecord: Hashable, Sendable {
    package let value: any Hashable & Sendable

    package init(_ value: any Hashable & Sendable) {
        self.value = value
    }

    package static func == (left: Self, right: Self) -> Bool {
        AnyHashable(left.value) == AnyHashable(right.value)
    }

    package func hash(into hasher: inout Hasher) {
        AnyHashable(value).hash(into: &hasher)
    }
}

/// A database beside the files, whose commits are operations like any other.
extension SimulatedFileSystem {
    /// The records as processes see them.
    package var records: [String: SimulatedRecord] { disk.records }

    /// Commits the new values of records, all of them or none. `nil` removes a record.
    ///
    /// - Parameters:
    ///   - isFlushed: Whether the commit, and those before it, are durable when the call returns.
    ///   - isExpected: Whether the records are what whoever changes them has seen.
    /// - Returns: Whether they were; nothing has changed otherwise.
    package func commit(
        _ values: [String: SimulatedRecord?], isFlushed: Bool,
        if isExpected: @Sendable ([String: SimulatedRecord]) -> Bool = { _ in true }
    ) throws(FileSystemError) -> Bool {
        let names = values.keys.sorted().joined(separator: " ")
        return try perform(Operation(kind: .commit, name: names)) { state throws(FileSystemError) in
            guard isExpected(state.disk.records) else { return false }
            state.change(.records(values))
            if isFlushed {
                state.flush { change in
                    if case .records = change { return true }
                    return false
                }
            }
            return true
        }
    }
}

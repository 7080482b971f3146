public import FileSystem

/// A database beside the files, whose commits are operations like any other.
extension SimulatedFileSystem {
    /// The records as processes see them.
    public var records: [String: [UInt8]] { disk.records }

    /// Commits the new values of records, all of them or none. An empty value removes a record.
    ///
    /// - Parameter isFlushed: Whether the commit, and those before it, are durable when the call returns.
    public func commit(_ values: [String: [UInt8]], isFlushed: Bool) throws(FileSystemError) {
        let names = values.keys.sorted().joined(separator: " ")
        try perform(Operation(kind: .commit, name: names)) { state throws(FileSystemError) in
            state.change(.records(values))
            if isFlushed {
                state.flush { change in
                    if case .records = change { return true }
                    return false
                }
            }
        }
    }
}

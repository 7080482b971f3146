public import FileSystem

/// A database beside the files, whose commits are operations like any other.
extension SimulatedFileSystem {
    /// The records as processes see them.
    public var records: [String: [UInt8]] { disk.records }

    /// Commits the new value of a record, or its removal.
    ///
    /// - Parameter isFlushed: Whether the commit, and those before it, are durable when the call returns.
    public func commit(_ value: [UInt8]?, for name: String, isFlushed: Bool) throws(FileSystemError) {
        try perform(Operation(kind: .commit, name: name)) { state throws(FileSystemError) in
            state.change(.record(name: name, value: value))
            if isFlushed {
                state.flush { change in
                    if case .record = change { return true }
                    return false
                }
            }
        }
    }
}

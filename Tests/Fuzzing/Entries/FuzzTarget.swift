/// A reader of foreign bytes, and what must hold whatever they are.
///
/// The corpora below `Tests/Fuzzing/Corpora` have a folder for each by its name.
struct FuzzTarget: Sendable {
    /// In kebab-case, as the folders of the corpora have it.
    let name: String
    /// - Throws: ``BrokenProperty``, or any other error, which no input may cause either.
    let run: @Sendable ([UInt8]) throws -> Void

    static let all: [FuzzTarget] = [
        FuzzTarget(name: "item", run: fuzzItem),
        FuzzTarget(name: "journal", run: fuzzJournal),
        FuzzTarget(name: "catalog", run: fuzzCatalog),
        FuzzTarget(name: "user-dirs", run: fuzzUserDirectories),
        FuzzTarget(name: "command-line", run: fuzzCommandLine),
        FuzzTarget(name: "names", run: fuzzNames),
        FuzzTarget(name: "output", run: fuzzOutput),
        FuzzTarget(name: "configuration", run: fuzzConfiguration),
        FuzzTarget(name: "headers", run: fuzzHeaders),
        FuzzTarget(name: "manifest", run: fuzzManifest),
    ]
}

/// Something that must hold for every input, and does not for this one.
struct BrokenProperty: Error, CustomStringConvertible {
    let description: String
}

/// - Throws: ``BrokenProperty``
func require(_ holds: @autoclosure () throws -> Bool, _ property: @autoclosure () -> String) throws {
    guard try holds() else { throw BrokenProperty(description: property()) }
}

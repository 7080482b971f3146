public import ArgumentParser
public import Contenders

/// What is measured together and shown as one table.
enum Suite: String, CaseIterable, ExpressibleByArgument {
    /// Items of 4, 16 and 64 KiB, with all peers.
    case small
    /// One item of hundreds of mebibytes, with commands of the shell.
    case large
    /// Small items by several tasks at once.
    case tasks
    /// Bursts of stores, a few opens, and eviction, with all peers that can.
    case day
}

extension Job: ExpressibleByArgument {}
extension Material: ExpressibleByArgument {}

/// What a suite came to.
struct SuiteResult {
    let suite: Suite
    let comparisons: [Comparison]
    /// How each contender was set up, in the order of the table.
    let setups: [(name: String, text: String)]
}

/// The options of the command line.
struct Arguments {
    static let usage = """
        Usage: swift run --package-path Examples Walkthrough [FOLDER] [--keep]

          FOLDER      take files from here instead of from the system's documentation
          --keep      leave the cache behind, to look at it with cachectl
          -h, --help  print this
        """

    var folder: String?
    var keepsContainer = false
    var wantsHelp = false

    /// - Throws: ``UsageError`` for an unknown or repeated argument.
    init(_ arguments: some Sequence<String>) throws(UsageError) {
        for argument in arguments {
            switch argument {
            case "--keep": keepsContainer = true
            case "-h", "--help": wantsHelp = true
            case _ where argument.hasPrefix("-"): throw UsageError(problem: "unknown option \(argument)")
            case _ where folder != nil: throw UsageError(problem: "more than one folder: \(argument)")
            default: folder = argument
            }
        }
    }
}

struct UsageError: Error {
    let problem: String
}

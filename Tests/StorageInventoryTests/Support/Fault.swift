import PrefetchCaching
import Testing

@testable import StorageInventory

/// Something wrong with a container that was clean.
struct Fault: Sendable, CustomTestStringConvertible {
    typealias Deed = @Sendable (SampleContainer) throws -> Void

    /// The rule that has to find it.
    let rule: String
    /// The statements that it breaks.
    let statements: Set<Statement>
    /// What is reported.
    let path: String
    /// How many files are reported; `nil` if it does not matter.
    let files: Int?
    let plant: Deed
    /// What the rule names as its fix: unless it is another one, to delete what is reported.
    let fix: Deed

    var testDescription: String { "\(rule) \(path)" }

    init(
        _ rule: String, _ statements: Set<Statement> = [], at path: String, files: Int? = nil,
        fix: Deed? = nil, _ plant: @escaping Deed
    ) {
        (self.rule, self.statements, self.path, self.files) = (rule, statements, path, files)
        (self.plant, self.fix) = (plant, fix ?? { try $0.remove(path) })
    }

    /// Files that only have to be there.
    ///
    /// - Parameters:
    ///   - names: The files below the path, if it is that of a folder.
    ///   - place: Where what is reported belongs, if the fix is to move it.
    init(
        _ rule: String, _ statements: Set<Statement>, _ path: String, _ names: [String]? = nil,
        text: String? = nil, days: Int = 0, isMarked: Bool = false, belongsAt place: String? = nil,
        fix: Deed? = nil
    ) {
        let paths = names?.map { "\(path)/\($0)" } ?? [path]
        var fix = fix
        if let place { fix = { try $0.move(path, to: place) } }
        self.init(
            rule, statements, at: path, files: rule == "excluded-one-by-one" ? 0 : paths.count,
            fix: fix
        ) { for path in paths { try $0.write(text, to: path, days: days, isMarked: isMarked) } }
    }
}

/// Lets the built `cachectl` do what has to succeed.
func cachectl(_ arguments: String...) -> Fault.Deed {
    { container in
        let outcome = try BuiltTool.run(arguments, on: container)
        #expect(outcome.status == 0, "\(arguments): \(outcome.output)")
    }
}

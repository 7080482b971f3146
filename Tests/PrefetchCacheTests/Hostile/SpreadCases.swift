import FileSystemTestSupport

/// Orders cases so that a sample of them has some of every shape: a repair looks at 256 folders, and would be most of what is
/// attacked.
func spread<Case>(
    _ cases: [Case], overShapes shape: (Case) -> String, using random: inout SeededGenerator
) -> [Case] {
    let groups = Dictionary(grouping: cases, by: shape).sorted { $0.key < $1.key }
        .map { $0.value.shuffled(using: &random) }.shuffled(using: &random)
    return (0..<(groups.map(\.count).max() ?? 0)).flatMap { round in
        groups.filter { round < $0.count }.map { $0[round] }
    }
}

extension Operation {
    /// What calls have in common that differ in the digits of names only.
    var shape: String { String(description.map { $0.isHexDigit ? "x" : $0 }) }
}

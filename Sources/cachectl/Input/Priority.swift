/// The priority of an item from the command line: 0 to 1.
enum Priority {
    static func parse(_ text: String) throws(PriorityError) -> Float {
        guard let priority = Float(text) else { throw .notANumber }
        // `nan` is outside any range.
        guard (0...1).contains(priority) else { throw .outOfRange }
        return priority
    }
}

/// Why a text is not a priority. ArgumentParser names the text and the option.
enum PriorityError: Error, Hashable, CaseIterable, CustomStringConvertible {
    case notANumber, outOfRange

    var description: String {
        switch self {
        case .notANumber: "it is not a number; write for example 0.5"
        case .outOfRange: "it is not between 0 and 1"
        }
    }
}

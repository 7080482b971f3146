import Foundation
import PrefetchCaching

/// Contents from the cache, compared with the originals byte for byte.
struct Comparisons {
    enum Outcome {
        case identical, different
        /// The original was changed meanwhile: this proves nothing.
        case originalChanged
    }

    private(set) var identical = 0
    private(set) var differing: [ItemKey] = []
    private(set) var originalsChanged = 0

    var compared: Int { identical + differing.count }

    mutating func compare(_ content: Data, with original: SourceFile) throws -> Outcome {
        if try Data(contentsOf: original.url) == content {
            identical += 1
            return .identical
        }
        guard FileFacts(of: original.url) == original.facts else {
            originalsChanged += 1
            return .originalChanged
        }
        differing.append(original.key)
        return .different
    }
}

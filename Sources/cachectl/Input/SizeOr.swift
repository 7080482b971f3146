internal import PrefetchCache

/// A size, or the word that replaces it: `--budget automatic`, `--cap none`.
enum SizeOr: Hashable {
    case size(ByteCount)
    case word

    /// Reads a size, unless the text is `word`.
    static func parsing(_ word: String) -> @Sendable (String) throws -> SizeOr {
        { text in text == word ? .word : .size(try parse(text, or: word)) }
    }

    private static func parse(_ text: String, or word: String) throws -> ByteCount {
        do throws(ByteSizeError) {
            return try ByteSize.parse(text)
        } catch {
            throw SizeOrError(word: word, error: error)
        }
    }
}

/// Why a text is neither a size nor the word.
struct SizeOrError: Error, Hashable, CustomStringConvertible {
    let word: String
    let error: ByteSizeError

    var description: String { "\(error), or '\(word)'" }
}

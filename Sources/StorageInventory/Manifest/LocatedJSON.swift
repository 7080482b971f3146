internal import Foundation

/// A JSON value that knows where it stands in its text, so that an error in it can name the line and the column.
struct LocatedJSON {
    enum Value {
        case object([Member]), array([LocatedJSON]), string(String), number(Double), boolean(Bool), null
    }

    struct Member {
        let name: String
        /// The offset of the name in the text.
        let offset: Int
        let value: LocatedJSON
    }

    let value: Value
    /// The offset of the first byte of the value in the text.
    let offset: Int

    /// Reads a text (RFC 8259). A name may occur only once in an object.
    ///
    /// - Parameter text: UTF-8 without a byte order mark; see ``requireUTF8(_:)``.
    /// - Complexity: O(*n*) in the number of bytes.
    init(parsing text: [UInt8]) throws(LocatedFault) {
        var parser = JSONParser(text)
        self = try parser.document()
    }

    private init(_ value: Value, _ offset: Int) {
        self.value = value
        self.offset = offset
    }

    /// What the value is, as an error says it.
    var kind: String {
        switch value {
        case .object: "an object"
        case .array: "a list"
        case .string: "a text"
        case .number: "a number"
        case .boolean(let value): "\(value)"
        case .null: "null"
        }
    }

    static func requireUTF8(_ text: [UInt8]) throws(LocatedFault) {
        var bytes = text.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &bytes) {
            case .valid(let scalar): offset += scalar.count
            case .error: throw LocatedFault(offset, "this is not UTF-8: save the file with that encoding")
            case .emptyInput: return
            }
        }
    }

    /// Parses the structure. What is inside strings and numbers is left to Foundation.
    private struct JSONParser {
        /// How deep values may be nested, which bounds the recursion; a manifest needs 3.
        private static let deepest = 32

        private let text: [UInt8]
        private var offset = 0

        init(_ text: [UInt8]) {
            self.text = text
        }

        mutating func document() throws(LocatedFault) -> LocatedJSON {
            let value = try value(depth: 0)
            skipBlanks()
            guard next == nil else { throw fault("there is more after the end: remove it") }
            return value
        }

        private var next: UInt8? { offset < text.count ? text[offset] : nil }

        private mutating func skipBlanks() {
            while let byte = next, [0x20, 0x0A, 0x0D, 0x09].contains(byte) { offset += 1 }
        }

        private mutating func value(depth: Int) throws(LocatedFault) -> LocatedJSON {
            skipBlanks()
            let start = offset
            guard depth < Self.deepest else {
                throw fault("the values are nested too deeply: a manifest has three levels")
            }
            let value: Value
            switch next {
            case UInt8(ascii: "{"): value = .object(try members(depth: depth + 1))
            case UInt8(ascii: "["): value = .array(try elements(depth: depth + 1))
            case UInt8(ascii: "\""): value = .string(try string())
            case let byte? where "-0123456789".utf8.contains(byte): value = .number(try number())
            default: value = try word()
            }
            return LocatedJSON(value, start)
        }

        private mutating func members(depth: Int) throws(LocatedFault) -> [Member] {
            var members: [Member] = []
            var names: Set<String> = []
            try list(until: UInt8(ascii: "}")) { parser throws(LocatedFault) in
                let start = parser.offset
                guard parser.next == UInt8(ascii: "\"") else {
                    throw parser.unexpected("a name in double quotes")
                }
                let name = try parser.string()
                guard names.insert(name).inserted else {
                    throw LocatedFault(start, "\"\(name)\" is given twice: keep one of them")
                }
                parser.skipBlanks()
                guard parser.next == UInt8(ascii: ":") else { throw parser.unexpected("a colon") }
                parser.offset += 1
                members.append(Member(name: name, offset: start, value: try parser.value(depth: depth)))
            }
            return members
        }

        private mutating func elements(depth: Int) throws(LocatedFault) -> [LocatedJSON] {
            var elements: [LocatedJSON] = []
            try list(until: UInt8(ascii: "]")) { parser throws(LocatedFault) in
                elements.append(try parser.value(depth: depth))
            }
            return elements
        }

        /// Parses what is between two brackets and separated by commas.
        private mutating func list(
            until end: UInt8, _ element: (inout JSONParser) throws(LocatedFault) -> Void
        ) throws(LocatedFault) {
            offset += 1
            skipBlanks()
            if next == end {
                offset += 1
                return
            }
            while true {
                skipBlanks()
                try element(&self)
                skipBlanks()
                let bracket = Character(Unicode.Scalar(end))
                guard let byte = next, byte == UInt8(ascii: ",") || byte == end else {
                    throw unexpected("a comma or '\(bracket)'")
                }
                offset += 1
                if byte == end { return }
                skipBlanks()
                if next == end {
                    throw fault("the comma before this '\(bracket)' is one too many: remove it")
                }
            }
        }

        private mutating func string() throws(LocatedFault) -> String {
            let start = offset
            var hasEscapes = false
            offset += 1
            while let byte = next, byte != UInt8(ascii: "\"") {
                guard byte >= 0x20 else {
                    throw fault("a line break or control character in a text: close the text, or write \\n")
                }
                let isEscape = byte == UInt8(ascii: "\\")
                hasEscapes = hasEscapes || isEscape
                offset += isEscape ? 2 : 1
            }
            guard next != nil else { throw LocatedFault(start, "this text has no closing quote: add it") }
            offset += 1
            guard hasEscapes else {
                return String(decoding: text[start + 1..<offset - 1], as: UTF8.self)
            }
            return try decoded(start, "an escape in this text is not one of JSON: write a backslash as \\\\")
        }

        private mutating func number() throws(LocatedFault) -> Double {
            let start = offset
            while let byte = next, "+-.0123456789Ee".utf8.contains(byte) { offset += 1 }
            return try decoded(start, "this is not a number of JSON: write for example 1")
        }

        /// Lets Foundation read what lies between `start` and here.
        private func decoded<Result: Decodable>(_ start: Int, _ message: String) throws(LocatedFault)
            -> Result
        {
            do {
                let list = Data("[".utf8) + Data(text[start..<offset]) + Data("]".utf8)
                if let only = try JSONDecoder().decode([Result].self, from: list).first { return only }
            } catch {
                // The position is worth more than what Foundation says.
            }
            throw LocatedFault(start, message)
        }

        private mutating func word() throws(LocatedFault) -> Value {
            let words: [(String, Value)] = [
                ("true", .boolean(true)), ("false", .boolean(false)), ("null", .null),
            ]
            for (word, value) in words where text[offset...].starts(with: word.utf8) {
                offset += word.utf8.count
                return value
            }
            throw unexpected("a value")
        }

        private func unexpected(_ expected: String) -> LocatedFault {
            let rest = text[offset...]
            guard !rest.isEmpty else {
                return fault("the text ends where \(expected) is expected: is something cut off?")
            }
            if rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "#") {
                return fault("JSON has no comments: write it into \"what\" or \"why\"")
            }
            let found = String(decoding: rest.prefix(64), as: UTF8.self).first.map { "'\($0)'" } ?? ""
            return fault("expected \(expected), found \(found)")
        }

        private func fault(_ message: String) -> LocatedFault { LocatedFault(offset, message) }
    }
}

/// What is wrong with a text, and where.
struct LocatedFault: Error {
    /// In bytes.
    let offset: Int
    let message: String

    init(_ offset: Int, _ message: String) {
        self.offset = offset
        self.message = message
    }

    /// The line and the column, both counted from 1. A column counts characters, as an editor does.
    func position(in text: [UInt8]) -> (line: Int, column: Int) {
        let before = text.prefix(offset)
        let line = before.lastIndex(of: 0x0A).map { before[($0 + 1)...] } ?? before
        return (before.count { $0 == 0x0A } + 1, String(decoding: line, as: UTF8.self).count + 1)
    }
}

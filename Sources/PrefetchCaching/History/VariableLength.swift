/// The bytes of a record of the history or the journal are not of its form.
struct MalformedRecord: Error {}

/// Numbers of variable length (LEB128), signed ones in zigzag order, and texts and lists with their length in front.
extension [UInt8] {
    mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func append(signed value: Int64) {
        append(number: UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func append(counted bytes: some Collection<UInt8>) {
        append(number: UInt64(bytes.count))
        append(contentsOf: bytes)
    }

    mutating func append(text: String) { append(counted: text.utf8) }
}

extension ArraySlice<UInt8> {
    /// - Throws: ``MalformedRecord``, as all of these.
    mutating func number(atMost limit: UInt64 = .max) throws -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        var end = startIndex
        while true {
            guard end < endIndex, shift < 64 else { throw MalformedRecord() }
            let byte = self[end]
            end += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        self = self[end...]
        guard number <= limit else { throw MalformedRecord() }
        return number
    }

    mutating func signed() throws -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func counted() throws -> ArraySlice<UInt8> {
        let count = Int(try number(atMost: UInt64(count)))
        guard count <= self.count else { throw MalformedRecord() }
        defer { self = dropFirst(count) }
        return prefix(count)
    }

    mutating func text() throws -> String { String(decoding: try counted(), as: UTF8.self) }
}

extension String {
    /// As many of the first characters as fit into so many bytes of UTF-8.
    func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}

/// Appends fixed-width little-endian integers.
struct ByteWriter {
    private(set) var bytes: [UInt8]

    init(capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(bytes other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }
}

/// Reads fixed-width little-endian integers from the front of a buffer. Reading past the end throws instead of
/// trapping.
struct ByteReader {
    private var rest: UnsafeRawBufferPointer.SubSequence
    private let damage: ItemFormatError.Damage

    /// - Parameter damage: The damage to report if the bytes end early or a value is invalid.
    init(_ bytes: UnsafeRawBufferPointer, of damage: ItemFormatError.Damage) {
        rest = bytes[...]
        self.damage = damage
    }

    var count: Int { rest.count }

    mutating func take(count: Int) throws(ItemFormatError) -> UnsafeRawBufferPointer {
        guard count >= 0, rest.count >= count else { throw .damaged(damage) }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    mutating func take<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(ItemFormatError) -> Value
    {
        Value(littleEndian: try take(count: MemoryLayout<Value>.size).loadUnaligned(as: Value.self))
    }

    mutating func take<Value: RawRepresentable>(_: Value.Type = Value.self) throws(ItemFormatError) -> Value
    where Value.RawValue: FixedWidthInteger {
        guard let value = Value(rawValue: try take()) else { throw .damaged(damage) }
        return value
    }
}

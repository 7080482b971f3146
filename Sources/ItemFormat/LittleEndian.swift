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

/// Takes fixed-width little-endian integers from the front of a buffer. Reading past the end
/// returns `nil` and never traps.
struct ByteReader {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes[...]
    }

    var count: Int { rest.count }

    mutating func take<Value: FixedWidthInteger>(_: Value.Type = Value.self) -> Value? {
        let width = MemoryLayout<Value>.size
        guard rest.count >= width else { return nil }
        let value = UnsafeRawBufferPointer(rebasing: rest.prefix(width)).loadUnaligned(as: Value.self)
        rest = rest.dropFirst(width)
        return Value(littleEndian: value)
    }

    mutating func take(count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}

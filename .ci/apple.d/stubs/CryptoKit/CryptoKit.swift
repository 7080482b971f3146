// What is called of CryptoKit. Bodies are never run.

// protocol Digest : CustomStringConvertible, Hashable, Sendable, Sequence where Self.Element == UInt8
public struct SHA256Digest: Hashable, Sendable, Sequence {
    public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
}

// protocol HashFunction : Sendable
public struct SHA256: Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
}

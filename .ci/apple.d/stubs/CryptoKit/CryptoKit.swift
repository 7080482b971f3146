// What is called of CryptoKit, which swift-crypto re-exports on Apple's platforms, and implements with the same
// declarations on Linux, where the same calls compile. Bodies are never run.

public import Foundation

// protocol HashFunction : Sendable
public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

extension HashFunction {
    public mutating func update<D: DataProtocol>(data: D) {}
    public static func hash<D: DataProtocol>(data: D) -> Digest { fatalError() }
}

// protocol Digest : CustomStringConvertible, Hashable, Sendable, Sequence where Self.Element == UInt8
public protocol Digest: CustomStringConvertible, Hashable, Sendable, Sequence where Element == UInt8 {}

public struct SHA256Digest: Digest {
    public var description: String { "" }
    public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
}

public struct SHA256: HashFunction {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
}

// enum CryptoKitError : Error
public enum CryptoKitError: Error {
    case incorrectKeySize, incorrectParameterSize, authenticationFailure, wrapFailure, unwrapFailure, invalidParameter
    case underlyingCoreCryptoError(error: Int32)
}

// enum CryptoKitASN1Error : Error
public enum CryptoKitASN1Error: Equatable, Error, Hashable {
    case invalidFieldIdentifier, unexpectedFieldType, invalidObjectIdentifier, invalidASN1Object
    case invalidASN1IntegerEncoding, truncatedASN1Field, unsupportedFieldLength, invalidPEMDocument
}

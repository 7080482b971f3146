internal import Crypto
internal import Foundation
internal import Synchronization

/// The SHA-256 digest of a content on its way, if it is wanted.
///
/// It uses swift-crypto, which is the system's CryptoKit on Apple platforms and BoringSSL elsewhere: with the
/// processor's SHA instructions it keeps up with any disk, which plain Swift does not.
final class ContentDigest: Sendable {
    private let state: Mutex<SHA256?>

    init(isWanted: Bool) {
        state = Mutex(isWanted ? SHA256() : nil)
    }

    /// Takes the content that an earlier download stored; `nil` if the digest is not wanted.
    var replay: (@Sendable (UnsafeRawBufferPointer) -> Void)? {
        guard state.withLock({ $0 != nil }) else { return nil }
        return { self.update($0) }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { $0?.update(bufferPointer: bytes) }
    }

    func update(_ bytes: Data) {
        state.withLock { $0?.update(data: bytes) }
    }

    /// Returns the digest; `nil` if it is not wanted.
    func finalize() -> [UInt8]? {
        state.withLock { $0?.finalize() }.map(Array.init)
    }
}

package import Foundation

#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import CPrefetchCrypto
#endif

/// A SHA-256 digest under way: by CryptoKit on Apple platforms, and elsewhere by libcrypto of OpenSSL, which libcurl brings.
/// With the processor's SHA instructions both keep up with any disk, which plain Swift does not.
///
/// Not for several threads at once.
package final class SHA256: Sendable {
    #if canImport(CryptoKit)
        // Its user excludes all others, as ContentDigest does by a lock.
        nonisolated(unsafe) private var state = CryptoKit.SHA256()

        package init() {}

        package func update(_ bytes: UnsafeRawBufferPointer) { state.update(bufferPointer: bytes) }

        /// The digest of all bytes so far, 32 bytes long. Nothing can be added afterwards.
        package func finish() -> [UInt8] { Array(state.finalize()) }
    #else
        // Its user excludes all others, as ContentDigest does by a lock.
        nonisolated(unsafe) private let context = EVP_MD_CTX_new()

        package init() {
            // They fail without memory, or where a policy forbids the algorithm.
            guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
                preconditionFailure("libcrypto has no SHA-256")
            }
        }

        deinit { EVP_MD_CTX_free(context) }

        package func update(_ bytes: UnsafeRawBufferPointer) {
            EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        }

        /// The digest of all bytes so far, 32 bytes long. Nothing can be added afterwards.
        package func finish() -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
                EVP_DigestFinal_ex(context, digest.baseAddress, nil)
                count = 32
            }
        }
    #endif

    package static func digest(of content: Data) -> [UInt8] {
        let digest = SHA256()
        content.withUnsafeBytes { digest.update($0) }
        return digest.finish()
    }
}

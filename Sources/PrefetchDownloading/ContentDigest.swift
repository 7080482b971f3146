internal import Foundation
internal import PrefetchCaching
internal import Synchronization

extension Expectations {
    /// What is wrong with the length of whole content.
    func problem(of length: Int64, announced: Int64?) -> DownloadError.Reason? {
        if let announced, length != announced {
            return length < announced
                ? .truncated(received: length, announced: announced)
                : .tooLong(received: length, announced: announced)
        }
        return self.length.flatMap { $0 == length ? nil : .wrongLength(expected: $0, actual: length) }
    }
}

/// An incremental digest of content, compared with the expected one; a no-op if none is.
final class ContentDigest: Sendable {
    fileprivate struct State {
        var sha256: SHA256?
        var checksum: ContentChecksum?
        /// The files of a bundle whose content is still to come, and the digest of the first one up to a position.
        var files: ArraySlice<BundlePlan.File>
        var file: SHA256?
        var position: Int64 = 0
        var failure: DownloadError.Reason?
    }

    private let expected: [UInt8]?
    private let state: Mutex<State>

    /// - Parameter files: Of a bundle, whose digests are compared as soon as their content is complete.
    init(for expected: Expectations, _ files: [BundlePlan.File] = []) {
        self.expected = expected.digest
        let isWanted = expected.digest != nil
        state = Mutex(
            State(
                sha256: isWanted && !expected.isChecksum ? SHA256() : nil,
                checksum: isWanted && expected.isChecksum ? ContentChecksum() : nil, files: files[...]))
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            state.sha256?.update(bytes)
            state.checksum?.update(bytes)
            state.updateFiles(bytes)
        }
    }

    /// - Throws: ``DownloadError/Reason/wrongDigest(expected:actual:)`` once a file of a bundle has another digest.
    func add(_ piece: Data) throws(DownloadError.Reason) {
        piece.withUnsafeBytes { update($0) }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Returns what is wrong with the whole content, if anything is.
    func finish() -> DownloadError.Reason? {
        state.withLock { state in
            // Empty files at the end.
            state.updateFiles(UnsafeRawBufferPointer(start: nil, count: 0))
            if let failure = state.failure { return failure }
            let digest =
                state.sha256?.finish() ?? state.checksum?.finalize().bigEndianBytes
            return digest.flatMap { .init(of: $0, expecting: expected) }
        }
    }
}

extension ContentDigest.State {
    fileprivate mutating func updateFiles(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while let next = files.first {
            let count = Int(min(Int64(rest.count), next.length - position))
            if next.file.expected.digest != nil {
                file = file ?? SHA256()
                file?.update(UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            }
            rest = rest.dropFirst(count)
            position += Int64(count)
            guard position == next.length else { return }
            if failure == nil, let file {
                failure = .init(of: file.finish(), expecting: next.file.expected.digest)
            }
            (file, position) = (nil, 0)
            files.removeFirst()
        }
    }
}

extension DownloadError.Reason {
    /// `nil` if the digest is the expected one, or none is.
    fileprivate init?(of digest: [UInt8], expecting expected: [UInt8]?) {
        guard let expected, digest != expected else { return nil }
        self = .wrongDigest(expected: expected, actual: digest)
    }
}

extension UInt64 {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}

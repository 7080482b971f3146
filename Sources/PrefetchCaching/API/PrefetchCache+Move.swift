public import Foundation
package import PrefetchItemFormat
internal import SystemPackage

extension PrefetchCache {
    /// Stores a file and takes it over: once it is stored, it is gone from its place. Cancelling the task has no effect.
    ///
    /// ```swift
    /// if case .refused(let refusal) = try await cache.store(moving: downloaded, as: episode) { print(refusal) }
    /// ```
    ///
    /// Content that does not compress is not copied if it has more than 1 MiB and the file system has clones (APFS, btrfs,
    /// XFS): the item shares the blocks of the file. Otherwise the file is copied. It is removed afterwards.
    ///
    /// At every moment the content is at its old place or in the cache. As after every store nothing was flushed, and after a
    /// power cut the item may be a miss.
    ///
    /// The file stays as it is if it is refused, if the call fails, or if it is written to or replaced meanwhile; if the
    /// ledger cannot be read once the item is in its place, the call fails and the item stays, too. A file that is stored but
    /// cannot be removed stays, which is logged.
    ///
    /// - Returns: As ``store(_:as:encoding:admission:)-(Data,_,_,_)``.
    /// - Throws: As ``store(contentsOf:as:encoding:admission:)``, also ``CacheError/notARegularFile(_:)`` for a symbolic
    ///   link, ``CacheError/fileChanged(_:)`` and ``CacheError/fileOfCache(_:)``.
    /// - Complexity: O(n) in the bytes, which are read once for their checksums.
    @discardableResult
    public func store(
        moving file: URL, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        admission: AdmissionMode = .evicting
    ) async throws(CacheError) -> StoreOutcome {
        try await store(moving: file, as: metadata, encoding: encoding, on: AdmissionTerms(admission))
    }

    /// As ``store(moving:as:encoding:admission:)``.
    ///
    /// - Parameter check: Makes one check for every attempt to read the content.
    package func store(
        moving file: URL, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        whenPromoted: WhenPromoted = .leave, on terms: AdmissionTerms,
        checking check: @escaping @Sendable () -> ContentCheck = { ContentCheck() }
    ) async throws(CacheError) -> StoreOutcome {
        guard file.isFileURL else { throw .notARegularFile(file.absoluteString) }
        return try await run { engine throws(CacheError) in
            try engine.store(
                moving: FilePath(file.path), as: metadata, encoding: encoding,
                whenPromoted: whenPromoted, on: terms, checking: check)
        }
    }

    /// Removes a file that was handed over, and whose content is not needed; it may be gone already. One that is not
    /// regular, or lies in a folder of the cache, is refused.
    package func discard(_ file: URL) async throws(CacheError) {
        guard file.isFileURL else { throw .notARegularFile(file.absoluteString) }
        try await run { engine throws(CacheError) in try engine.discard(FilePath(file.path)) }
    }
}

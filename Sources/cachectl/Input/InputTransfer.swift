internal import PrefetchCache

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Stores an input piece by piece, with bounded memory, and shows its progress on a terminal.
struct InputTransfer {
    /// A few chunks of the item format, so that they are compressed in parallel.
    private static let pieceLength = 4 << 20

    private let input: InputFile
    private let cache: PrefetchCache

    init(_ input: InputFile, to cache: PrefetchCache) {
        self.input = input
        self.cache = cache
    }

    /// - Parameter isShown: Whether to show progress.
    func run(_ metadata: ItemMetadata, encoding: EncodingChoice, isShown: Bool) async throws -> StoreOutcome {
        let begun = try await cache.beginStoring(
            metadata, expectedLength: input.length, encoding: encoding)
        switch begun {
        case .refused(let refusal): return .refused(refusal)
        case .writer(let writer):
            if let refusal = try await copy(to: writer, isShown: isShown) { return .refused(refusal) }
            return try await writer.commit()
        }
    }

    /// - Returns: The refusal when there was no more room for the item, otherwise `nil`.
    private func copy(to writer: CacheWriter, isShown: Bool) async throws -> Refusal? {
        var progress = ProgressLine(label: input.name, total: input.length ?? 0) {
            StandardStreams.writeErrorVerbatim($0)
        }
        defer { progress.clear() }

        var piece = Data(count: Self.pieceLength)
        var done: Int64 = 0
        while true {
            let count: Int
            do {
                count = try input.read(into: &piece)
            } catch {
                try await writer.cancel()
                throw error
            }
            if let refusal = try await writer.write(piece.prefix(count)) { return refusal }
            done += Int64(count)
            if isShown { progress.show(done) }
            if count < piece.count { return nil }
        }
    }
}

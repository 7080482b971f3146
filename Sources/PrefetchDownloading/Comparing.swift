internal import Foundation
internal import PrefetchCaching

/// The content of a key that is here, cached or opened, of which the server may have a newer version.
struct PresentContent {
    /// Empty if the server did not say which version it is.
    let validator: Validator
    let contentBytes: Int64
    /// The files of a bundle.
    var parts: [BundlePart] = []
}

/// Comparing what a server sends with what is here, where nothing tells the version.
extension DownloadRun {
    /// Receives the first chunk of the content, and compares it with that of the content that is here.
    ///
    /// - Parameter next: Returns the next piece of the content, or `nil` after the last one.
    /// - Returns: How many bytes are the same, `nil` if they are not; and what was received.
    func compareBeginning(
        with next: () async throws -> ReceivedPiece?
    ) async throws -> (sameBytes: Int64?, pieces: [ReceivedPiece]) {
        let length = ItemLimits.chunkBytes
        var (content, pieces): (Data, [ReceivedPiece]) = (Data(), [])
        while content.count < length {
            try await keeper.require(job.conditions)
            guard let piece = try await next() else { break }
            content += piece.content
            pieces.append(piece)
        }
        let present = try await cache.read(request.key, range: 0..<Int64(length), recordingUse: false)
        guard content.prefix(length) == present else { return (nil, pieces) }
        let received = pieces.reduce(0) { $0 + $1.receivedBytes }
        await countFetched(Int64(received), again: Int64(received), inVain: Int64(received))
        return (Int64(length), pieces)
    }
}

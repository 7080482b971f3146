internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching
internal import Synchronization

extension APICall {
    func store(_ operation: Operation) async throws -> [String] {
        let metadata = try metadata()
        let content = Content.of(metadata.key.string)
        switch operation {
        case .storeData: try await cache.store(content, as: metadata)
        case .storeBytes: try await cache.store([UInt8](content), as: metadata, encoding: .forced(.lz4))
        case .storeFile:
            let file = URL(filePath: container).appending(path: "stored-\(seed)")
            try content.write(to: file)
            defer { _ = unlink(file.path) }
            try await cache.store(contentsOf: file, as: metadata)
        case .storeInPieces, .keepPieces:
            try await storeInPieces(metadata, content, keeping: operation == .keepPieces)
        case .resume: return try await resume(content)
        case .discard: try await cache.discardPartial(of: metadata.key)
        default: try await cache.store(content, as: self.metadata(.userRequested))
        }
        return []
    }

    private func storeInPieces(_ metadata: ItemMetadata, _ content: Data, keeping: Bool) async throws {
        let begun = try await cache.beginStoring(
            metadata, expectedLength: number.isMultiple(of: 2) ? Int64(content.count) : nil,
            keepingPartial: keeping, whenPromoted: number.isMultiple(of: 5) ? .storeAgain : .leave)
        guard case .writer(let writer) = begun else { return }
        let length = number.isMultiple(of: 3) ? content.count * 3 / 4 : content.count
        guard try await write(content.prefix(length), to: writer) else { return }
        if length == content.count {
            _ = try await writer.commit()
        } else if number.isMultiple(of: 2) {
            _ = try await writer.suspend()
        } else if number.isMultiple(of: 5) {
            try await writer.cancel()
        }
        // Else it is dropped.
    }

    private func write(_ content: Data, to writer: CacheWriter) async throws -> Bool {
        var rest = content
        while !rest.isEmpty {
            let piece = rest.prefix(200 << 10)
            guard try await writer.write(piece) == nil else { return false }
            rest = rest.dropFirst(piece.count)
        }
        return true
    }

    private func resume(_ content: Data) async throws -> [String] {
        guard let partial = try await cache.partial(of: key) else { return [] }
        let isWrong = Atomic(false)
        let length = Atomic(0)
        let resumed = try await cache.resumeStoring(partial) { bytes in
            let start = length.add(bytes.count, ordering: .relaxed).oldValue
            let isRight = content.dropFirst(start).prefix(bytes.count).elementsEqual(bytes)
            if !isRight { isWrong.store(true, ordering: .relaxed) }
        }
        guard case .writer(let writer) = resumed else { return [] }
        if isWrong.load(ordering: .relaxed) {
            try await writer.cancel()
            return ["\(try key) was kept with other content"]
        }
        if try await write(content.dropFirst(length.load(ordering: .relaxed)), to: writer) {
            _ = try await writer.commit()
        }
        return []
    }
}

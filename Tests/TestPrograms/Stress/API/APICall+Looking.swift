internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching
internal import Synchronization

extension APICall {
    func look(_ operation: Operation) async throws -> [String] {
        let key = try key
        let content = Content.of(key.string)
        switch operation {
        case .contains: _ = try await cache.contains(key)
        case .read: return faults(try await cache.read(key), content)
        case .readRange:
            let range = Int64(content.count / 3)..<Int64(content.count / 2)
            return faults(
                try await cache.read(key, range: range),
                content[
                    content.startIndex + Int(range.lowerBound)..<content.startIndex + Int(range.upperBound)])
        case .lookUp: return faults(try await cache.lookUp(key).value, content)
        case .stream:
            let streamed = Mutex(Data())
            let found = try await cache.stream(key) { bytes in
                streamed.withLock { $0.append(contentsOf: bytes) }
            }
            guard case .hit = found else { return [] }
            return faults(streamed.withLock { $0 }, content)
        case .status: _ = try await cache.status(of: key)
        case .metadata: _ = try await cache.metadata(of: key)
        default: _ = try await cache.partial(of: key)
        }
        return []
    }

    private func faults(_ found: Data?, _ content: Data) -> [String] {
        guard let found, found != content else { return [] }
        return ["\(found.count) bytes are not what was stored"]
    }
}

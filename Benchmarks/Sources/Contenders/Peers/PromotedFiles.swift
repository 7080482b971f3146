import CFloor
import Foundation

/// Where peers put what they promote: the part of a promotion that none of them does by itself, with the
/// floor's own calls.
final class PromotedFiles {
    private let directory: URL
    private let staging: CInt
    private let documents: CInt
    private let names: [String]

    init(in directory: URL, for workload: Workload) throws {
        self.directory = directory
        names = workload.contents.indices.map(Workload.finalName)
        staging = try Self.makeFolder("staging", in: directory)
        documents = try Self.makeFolder("documents", in: directory)
    }

    deinit {
        close(staging)
        close(documents)
    }

    /// Makes content a durable file.
    func publish(_ index: Int, _ content: UnsafeRawBufferPointer) throws {
        let name = names[index]
        try check(floor_publish(staging, name, documents, name, content.baseAddress, content.count))
    }

    func url(_ index: Int) -> URL { directory.appending(path: "documents/\(names[index])") }

    /// - Returns: The open folder.
    static func makeFolder(_ name: String, in directory: URL) throws -> CInt {
        let path = directory.appending(path: name).path(percentEncoded: false)
        guard mkdir(path, 0o700) == 0 else { throw FloorError(errno: errno) }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw FloorError(errno: errno) }
        return folder
    }

    private func check(_ errno: CInt) throws {
        if errno != 0 { throw FloorError(errno: errno) }
    }
}

/// What a peer said when a call of it failed.
struct PeerError: Error, CustomStringConvertible {
    let peer: String
    let message: String

    var description: String { "\(peer): \(message)" }
}

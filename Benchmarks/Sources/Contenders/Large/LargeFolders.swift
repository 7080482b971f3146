import CFloor
import Foundation

/// Open folders and names for one large item: where it arrives, is stored, is made durable and ends up.
final class LargeFolders {
    static let item = "item"
    static let temporary = "temporary"
    static let final = Workload.finalName(0)

    let directory: URL
    let items: CInt
    let incoming: CInt
    let staging: CInt
    let documents: CInt

    init(in directory: URL) throws {
        self.directory = directory
        items = try PromotedFiles.makeFolder("items", in: directory)
        incoming = try PromotedFiles.makeFolder("incoming", in: directory)
        staging = try PromotedFiles.makeFolder("staging", in: directory)
        documents = try PromotedFiles.makeFolder("documents", in: directory)
    }

    deinit {
        for folder in [items, incoming, staging, documents] { close(folder) }
    }

    var promotedFile: URL { directory.appending(path: "documents/\(Self.final)") }

    func path(_ name: String) -> String {
        directory.appending(path: name).path(percentEncoded: false)
    }

    func check(_ errno: CInt) throws {
        if errno != 0 { throw FloorError(errno: errno) }
    }
}

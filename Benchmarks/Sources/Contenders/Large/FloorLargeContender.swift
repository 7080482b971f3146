import CFloor
public import Foundation

/// The floor for a large item: C that streams it, on one thread.
public final class FloorLargeContender: LargeContender {
    public let name = "floor"
    public let setup = "C: system calls and liblz4 calls on one thread, 1 MiB at a time, one LZ4 frame"
    private var state: State?

    private final class State {
        let folders: LargeFolders
        let file: LargeFile
        let source: CInt
        let stream: OpaquePointer

        init(_ folders: LargeFolders, _ file: LargeFile) throws {
            guard let stream = floor_stream_create() else { throw FloorError(errno: ENOMEM) }
            self.stream = stream
            self.folders = folders
            self.file = file
            source = open(file.url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
            guard source >= 0 else { throw FloorError(errno: errno) }
        }

        deinit {
            close(source)
            floor_stream_destroy(stream)
        }

        var identity: CInt { file.material == .incompressible ? 1 : 0 }
    }

    public init() {}

    public func prepare(in directory: URL, for file: LargeFile) throws {
        state = try State(LargeFolders(in: directory), file)
    }

    public func store() throws {
        let state = try prepared()
        let folders = state.folders
        try folders.check(
            floor_stream_store(
                state.stream, state.source, state.file.size, state.identity, folders.incoming,
                LargeFolders.temporary, folders.items, LargeFolders.item))
    }

    public func read() throws {
        let state = try prepared()
        var length = 0
        try state.folders.check(
            floor_stream_read(
                state.stream, state.identity, state.folders.items, LargeFolders.item, &length))
        guard length == state.file.size else { throw WrongContent(contender: name, item: 0) }
    }

    public func promote() throws {
        let state = try prepared()
        let folders = state.folders
        let result =
            if state.identity == 1 {
                floor_publish_file(
                    folders.items, LargeFolders.item, folders.documents, LargeFolders.final)
            } else {
                floor_stream_promote(
                    state.stream, folders.items, LargeFolders.item, folders.staging, LargeFolders.temporary,
                    folders.documents, LargeFolders.final)
            }
        try folders.check(result)
    }

    public var promotedFile: URL {
        get throws { try prepared().folders.promotedFile }
    }

    public func cleanup() {
        state = nil
    }

    private func prepared() throws -> State {
        guard let state else { throw ContenderError.notPrepared }
        return state
    }
}

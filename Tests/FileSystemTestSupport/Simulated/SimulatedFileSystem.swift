internal import PrefetchFileSystem
internal import Synchronization
package import SystemPackage

/// A file system in memory that knows what a loss of power would leave of it.
///
/// What was written is *pending* until its file or folder is flushed, and closing is not flushing. Of
/// what is pending any part may survive: pages of one write, lengths and marks one by one, the entries
/// of folders one by one. A rename within a folder is one change; one across folders is two, the new
/// name first. When flushing a file fails, what was pending of its content can be read on, but never
/// becomes durable any more, as on Linux: a later flush that succeeds means nothing. Folders are
/// journaled, as everywhere: what one flush left pending the next may make durable.
///
/// Before every operation a test may look at it, and make it fail.
package final class SimulatedFileSystem: FileSystem {
    /// What survives or not is decided for so many bytes at a time.
    static let pageLength = 4096

    struct OpenFile {
        let node: SimulatedDisk.NodeID
        let name: String
        let isWritable: Bool
    }

    struct State {
        var disk: SimulatedDisk
        var durable: SimulatedDisk
        var pending: [SimulatedChange] = []
        var open: [Descriptor: OpenFile] = [:]
        var locks: [SimulatedDisk.NodeID: [Descriptor: LockMode]] = [:]
        var byteLocks: [SimulatedDisk.NodeID: [Int64: Descriptor]] = [:]
        var lastDescriptor: CInt = 100
        var lastNode: SimulatedDisk.NodeID
        var history = SimulatedHistory()
        var isIntercepted = true
        var naming = SimulatedNaming()
    }

    /// Functions in a type of their own: each access to a bare function in a `Mutex` wraps it once more, until a call of it
    /// overflows the stack.
    private struct Hooks {
        var interceptor: Interceptor = { _ in }
        var isShortWrite: @Sendable (Operation) -> Bool = { _ in false }
    }

    let state: Mutex<State>
    private let hooks = Mutex(Hooks())
    private let sabotage: @Sendable (Operation) -> Bool
    /// `nil` where space is no matter.
    let space: SimulatedVolume?

    /// Starts with what is on a disk, all of it durable.
    ///
    /// - Parameters:
    ///   - volume: The space for the files; what is on the disk already takes none. `nil` for space in plenty.
    ///   - sabotage: Whether an operation only claims to have done what makes it safe: a flush flushes
    ///     nothing, a lock keeps nobody out, an exclusive rename replaces.
    package init(
        _ disk: SimulatedDisk = SimulatedDisk(), on volume: SimulatedVolume? = nil,
        sabotage: @escaping @Sendable (Operation) -> Bool = { _ in false }
    ) {
        var state = State(disk: disk, durable: disk, lastNode: disk.nodes.keys.max() ?? 1)
        state.record("start")
        self.state = Mutex(state)
        self.sabotage = sabotage
        space = volume
    }

    /// Chooses the writes that take only half of what they are given.
    package func shorten(where isShort: @escaping @Sendable (Operation) -> Bool) {
        hooks.withLock { $0.isShortWrite = isShort }
    }

    /// Does something that no interceptor is asked about: a step of the test, and not of what it tests.
    package func undisturbed<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.isIntercepted = false }
        defer { state.withLock { $0.isIntercepted = true } }
        return try body()
    }

    func isShort(_ operation: Operation) -> Bool {
        guard state.withLock({ $0.isIntercepted }) else { return false }
        let isShort = hooks.withLock { $0.isShortWrite }
        return isShort(operation)
    }

    func isSabotaged(_ operation: Operation) -> Bool { sabotage(operation) }

    /// Goes on after the death of a process: all that it did is there, and as durable as it was.
    package convenience init(
        after moment: SimulatedHistory.Moment, sabotage: @escaping @Sendable (Operation) -> Bool
    ) {
        self.init(moment.durable, sabotage: sabotage)
        state.withLock { state in
            for change in moment.pending { state.change(change) }
            state.lastNode = state.disk.nodes.keys.max() ?? 1
            state.history = SimulatedHistory()
            state.record("start")
        }
    }

    /// Replaces the interceptor.
    package func intercept(_ interceptor: @escaping Interceptor) {
        hooks.withLock { $0.interceptor = interceptor }
    }

    /// Chooses what names the file system accepts, and which it takes for the same.
    package func setNaming(_ naming: SimulatedNaming) {
        state.withLock { $0.naming = naming }
    }

    /// The disk as processes see it.
    package var disk: SimulatedDisk { state.withLock { $0.disk } }

    package var history: SimulatedHistory { state.withLock { $0.history } }

    /// Takes note of something that a caller was told.
    package func note(_ text: String) {
        state.withLock { state in
            state.history.notes.append(text)
            state.record("note \(text)")
        }
    }

    /// Makes everything durable, and forgets the past.
    package func settle() {
        state.withLock { state in
            state.durable = state.disk
            state.pending = []
            state.history = SimulatedHistory()
            state.record("start")
        }
    }

    /// Makes a folder that begins another volume.
    package func mount(_ path: FilePath, device: UInt64) {
        state.withLock { state in
            var parent = SimulatedDisk.root
            for component in path.components {
                if let next = state.disk.node(parent).entries[component.string] {
                    parent = next
                } else {
                    parent = state.makeNode(
                        .directory, [.ownerReadWriteExecute], component.string, in: parent)
                }
            }
            state.disk.nodes[parent]?.device = device
            state.durable.nodes[parent]?.device = device
        }
    }

    /// Puts a symbolic link in a folder that is there.
    package func makeLink(_ path: FilePath, to target: String) {
        state.withLock { state in
            guard let name = path.lastComponent, let folder = state.disk.find(path.removingLastComponent())
            else { preconditionFailure("no folder for \(path)") }
            let link = state.makeNode(.symbolicLink, [], name.string, in: folder)
            state.disk.nodes[link]?.target = target
            state.durable.nodes[link]?.target = target
        }
    }

    func perform<Result: Sendable>(
        _ operation: Operation, _ body: (inout State) throws(FileSystemError) -> Result
    ) throws(FileSystemError) -> Result {
        let interceptor = hooks.withLock { $0.interceptor }
        let isIntercepted = state.withLock { $0.isIntercepted }
        do {
            if isIntercepted { try interceptor(operation) }
            space?.noteCall()
        } catch {
            if operation.kind == .synchronize { loseContent(named: operation.name) }
            throw error
        }
        return try state.withLock { state throws(FileSystemError) in
            let result = try body(&state)
            if operation.kind.isChange, operation.kind != .open || state.hasNewNode {
                state.record("\(operation)")
            }
            return result
        }
    }

    /// A flush has failed: what it was to make durable never will be.
    private func loseContent(named name: String) {
        state.withLock { state in
            let nodes = Set(state.open.values.lazy.filter { $0.name == name }.map(\.node))
            for node in nodes where state.disk.node(node).kind == .regular {
                state.pending.removeAll { $0.isContent(of: node) }
            }
        }
    }

    func name(of file: Descriptor) -> String {
        state.withLock { $0.open[file]?.name ?? "#\(file.rawValue)" }
    }
}

extension SimulatedFileSystem.State {
    /// Whether a node was made since the last moment.
    var hasNewNode: Bool { history.moments.last?.durable.nodes.count != durable.nodes.count }

    mutating func record(_ operation: String) {
        history.moments.append(
            SimulatedHistory.Moment(
                operation: operation, durable: durable, pending: pending, notes: history.notes.count))
    }

    /// Does something that is not durable yet.
    mutating func change(_ change: SimulatedChange) {
        disk.apply(change)
        pending.append(change)
    }

    mutating func flush(where isFlushed: (SimulatedChange) -> Bool) {
        var rest: [SimulatedChange] = []
        var arrived: Set<SimulatedChange.Arrival> = []
        for change in pending {
            guard isFlushed(change) else {
                rest.append(change)
                continue
            }
            durable.apply(change)
            if case .entry(let folder, let name, .some) = change {
                arrived.insert(.init(folder: folder, name: name))
            }
        }
        pending = rest.map { change in
            if case .departure(let folder, let name, let node, let arrival?) = change,
                arrived.contains(arrival)
            {
                return .departure(folder: folder, name: name, node, nil)
            }
            return change
        }
    }

    /// A node is there from the beginning; only its name can be lost.
    mutating func makeNode(
        _ kind: FileAttributes.Kind, _ permissions: FilePermissions, _ name: String,
        in folder: SimulatedDisk.NodeID
    ) -> SimulatedDisk.NodeID {
        lastNode += 1
        let node = SimulatedDisk.Node(
            kind: kind, device: disk.node(folder).device, permissions: permissions)
        disk.nodes[lastNode] = node
        durable.nodes[lastNode] = node
        change(.entry(folder: folder, name: name, lastNode))
        return lastNode
    }
}

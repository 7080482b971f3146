internal import SystemPackage

/// The smallest thing that a disk has or has not after the power went.
enum SimulatedChange: Sendable, Hashable {
    typealias NodeID = SimulatedDisk.NodeID

    case write(NodeID, offset: Int, bytes: [UInt8])
    case resize(NodeID, length: Int)
    case permissions(NodeID, FilePermissions)
    case extendedAttribute(NodeID, name: String, value: [UInt8]?)
    case noDump(NodeID, Bool)
    /// A name appears in a folder, or goes.
    case entry(folder: NodeID, name: String, NodeID?)
    /// The old name of a file goes that was renamed into another folder: never before it has arrived
    /// there, or renaming would lose files on any file system. `nil`: it has, for certain.
    case departure(folder: NodeID, name: String, NodeID, Arrival?)
    /// A rename within a folder, which is one change.
    case renaming(folder: NodeID, name: String, newName: String, NodeID)
    /// A commit of the database that was not flushed: all of it or nothing. `nil` removes a record.
    case records([String: SimulatedRecord?])

    struct Arrival: Sendable, Hashable {
        let folder: NodeID
        let name: String
    }

    /// Whether flushing a file or folder makes the change durable.
    func isFlushed(with id: NodeID) -> Bool {
        switch self {
        case .write(let node, _, _), .resize(let node, _), .permissions(let node, _),
            .extendedAttribute(let node, _, _), .noDump(let node, _):
            node == id
        case .entry(let folder, _, _), .renaming(let folder, _, _, _): folder == id
        case .departure(let folder, _, _, _): folder == id
        case .records: false
        }
    }

    /// Whether the change is part of a file's content or attributes.
    func isContent(of id: NodeID) -> Bool {
        switch self {
        case .write, .resize, .permissions, .extendedAttribute, .noDump: isFlushed(with: id)
        case .entry, .renaming, .departure, .records: false
        }
    }
}

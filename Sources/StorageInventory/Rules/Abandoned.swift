internal import FileSystem
internal import ItemFormat
internal import PrefetchCache
internal import SystemPackage

/// A file in a folder of the cache that nothing accounts for.
struct Abandoned: StorageRule {
    let info = RuleInfo(
        name: "abandoned", severity: .warning,
        explanation:
            "A file in a folder of the cache is not one of its files, or is left over from abandoned work.",
        guideline: Guideline.fileSystem,
        fix:
            "Move the file to where it belongs, or delete it; opening the cache removes its own leftovers."
    )

    /// Work under way creates its files one after the other; none of them is alone for so long.
    /// In milliseconds.
    static let patience: Int64 = 3_600_000

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        let isKnown = inventory.isLedgerKnown
        let intents = Set(
            (inventory.ledger?.entries ?? []).lazy.filter { !$0.isCommitted }.map(\.stagedName))
        let partials = PartialPairs(inventory)
        let old = checkup.options.now - Self.patience
        for index in checkup.files(where: { checkup.folder(of: $0).role?.isOwn == true }) {
            let file = checkup.file(index)
            switch file.kind {
            case .foreign, .link, .special:
                if checkup.folder(of: file).role == .files, !isKnown { continue }
                report(index, "the cache keeps no file of this name here", &checkup)
            case .staged where isKnown && file.modified < old && !intents.contains(file.name.string):
                // What was moved aside is the user's, and moved back when the cache is opened.
                guard CacheFile(file.name, in: .staging) != .aside else { continue }
                report(index, "no promotion needs it", &checkup)
            case .partial, .journal:
                if partials.isAlone(file) {
                    guard file.modified < old else { continue }
                    report(index, "its other half is missing", &checkup)
                } else if let lock = partials.lock(of: file), !isHeld(lock, &checkup) {
                    report(index, "its writer has died", &checkup)
                }
            default: break
            }
        }
    }

    /// Reports a file, unless somebody has taken it away since the walk: it was work under way then.
    private func report(_ index: Int32, _ message: String, _ checkup: inout Checkup) {
        if checkup.isStillThere(index) { checkup.report(self, index, message) }
    }

    /// Whether a live process holds a lock, which it does exclusively. The check does not wait.
    private func isHeld(_ lock: Int32?, _ checkup: inout Checkup) -> Bool {
        guard let lock else { return false }
        let fileSystem = checkup.fileSystem
        let isFree = checkup.look(at: lock) { file throws(ItemFormatError) in
            do throws(FileSystemError) {
                return try fileSystem.lock(file, .shared, waiting: false)
            } catch {
                throw .fileSystem(error)
            }
        }
        // Without locks this is unknown, and the lock counts as held.
        return isFree != true
    }
}

/// The files in `incoming/` that belong together.
private struct PartialPairs {
    private var locks: [String: Int32] = [:]
    private var names: Set<FilePath.Component> = []

    init(_ inventory: StorageInventory) {
        for (index, file) in inventory.files.enumerated()
        where inventory.folders[Int(file.folder)].role == .incoming {
            names.insert(file.name)
            if file.kind == .lock { locks[file.name.stem] = Int32(index) }
        }
    }

    /// Whether a kept partial lacks its journal, or a journal its partial.
    func isAlone(_ file: InventoryFile) -> Bool {
        guard let known = CacheFile(file.name, in: .incoming) else { return false }
        switch known {
        case .keptPartial: return !contains("\(file.name.string).chunks")
        case .journal: return !contains(file.name.stem)
        default: return false
        }
    }

    /// The lock of the process that writes a partial: `nil` for a kept partial, and `.some(nil)` for a
    /// missing lock.
    func lock(of file: InventoryFile) -> Int32?? {
        guard CacheFile(file.name, in: .incoming) == .partial else { return nil }
        return .some(locks[String(file.name.string.prefix { $0 != "-" })])
    }

    private func contains(_ name: String) -> Bool {
        FilePath.Component(name).map(names.contains) ?? false
    }
}

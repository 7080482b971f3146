internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

extension Checkup {
    /// Folders and files that nothing explains, and that nothing uses any more.
    mutating func findForgottenFiles() {
        // If the app itself was not used for long, or this is an old copy of a container, nothing is forgotten.
        let lastUse = inventory.files.lazy.map(\.modified).max() ?? 0
        // What an app needs, it needs more often than twice a year.
        let before = min(lastUse, options.now) - 180 * 86_400_000
        let folders = topFolders(inventory)
        let groups = inventory.outermostFolders { number, _ in folders.contains(number) }
        let places = inventory.libraryFolders
        var members: [Int32: [Int32]] = [:]
        var used: Set<Int32> = []
        var single: [Int32] = []
        for (number, file) in inventory.files.enumerated() where ![.link, .special].contains(file.kind) {
            let isForgotten = isForgotten(file, Int32(number), before)
            if let folder = groups[Int(file.folder)] {
                members[folder, default: []].append(Int32(number))
                if !isForgotten { used.insert(folder) }
            } else if isForgotten, places.contains(file.folder) {
                single.append(Int32(number))
            }
        }
        // Nothing is taken out for its age unless the age is stated.
        let stated = options.unusedFor.map { options.now - $0 } ?? .min
        for index in single where isUnread(index, before) {
            let file = self.file(index)
            report(
                [index], at: inventory.path(of: file), "it has not been used for long",
                isFixable: file.modified < stated)
        }
        for (folder, files) in members.sorted(by: { $0.key < $1.key }) where !used.contains(folder) {
            guard files.allSatisfy({ isUnread($0, before) }) else { continue }
            let path = inventory.path(ofFolder: folder)
            report(
                files, at: path, "nothing in it has been used for long",
                isFixable: files.allSatisfy { file($0).modified < stated })
        }
    }

    /// Folders of which each is the matter of one part of the app, or of one library in it.
    private func topFolders(_ inventory: FileInventory) -> Set<Int32> {
        let places = inventory.libraryFolders
        return Set(
            inventory.folders.indices.lazy.map(Int32.init).filter { number in
                let folder = inventory.folders[Int(number)]
                guard let parent = folder.parent, let name = folder.name.lastComponent else { return false }
                return places.contains(parent) && !places.contains(number)
                    && folder.area == inventory.folders[Int(parent)].area && folder.role?.isOwn != true
                    && !SystemFolder.isOne(name)
            })
    }

    /// Whether a file was not changed for long, and is neither the cache's, nor marked, nor a document of the user's.
    private func isForgotten(
        _ file: InventoryFile, _ index: Int32, _ before: Int64
    ) -> Bool {
        file.modified < before && file.kind == .foreign && file.exclusions.isDisjoint(with: .marks)
            && type(of: index)?.isDocument != true && entry(of: index) == nil
    }

    private mutating func isUnread(_ index: Int32, _ before: Int64) -> Bool {
        accessTime(of: index).map { $0 < before } ?? true
    }
}

/// What the system has in a container's Library, Application Support and Caches.
enum SystemFolder {
    private static let names: Set = [
        "Application Scripts", "Cookies", "HTTPStorages", "Keyboard", "Logs", "Mobile Documents",
        "PhotoData", "Preferences", "Saved Application State", "Snapshots", "SplashBoard",
        "SyncedPreferences", "WebKit",
    ]

    static func isOne(_ name: FilePath.Component) -> Bool {
        names.contains(name.string) || name.string.hasPrefix("com.apple.")
    }
}

extension FileInventory {
    /// Whether a folder may carry a mark: one of Library needs a name that cannot become one of the system's.
    ///
    /// - Parameter places: ``libraryFolders``.
    func isNamedForMark(_ number: Int32, among places: Set<Int32>) -> Bool {
        let folder = folders[Int(number)]
        guard let parent = folder.parent, let name = folder.name.lastComponent else { return false }
        // The areas of an app that is in no container have its identifier already.
        guard place.container != nil, places.contains(parent) else { return true }
        return name.isBundleIdentifier || SystemFolder.isOne(name)
    }

    /// The folders in which each part of an app has a folder of its own: Library, Application Support and Caches.
    var libraryFolders: Set<Int32> {
        var found: Set<Int32> = []
        for (number, folder) in folders.enumerated() {
            let parent = folder.parent.map { folders[Int($0)] }
            switch folder.area {
            case .applicationSupport?, .caches?:
                guard folder.area != parent?.area else { continue }
                found.insert(Int32(number))
                // Library is around them in a container. The areas of an app may be anywhere.
                if place.container != nil, let outer = folder.parent { found.insert(outer) }
            default: break
            }
        }
        return found
    }
}

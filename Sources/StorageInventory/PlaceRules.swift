internal import PrefetchCaching
internal import PrefetchStorageAreas
internal import SystemPackage

// What is in the wrong place.

extension Checkup {
    mutating func findLeftovers() {
        // No work in tmp takes a day.
        let old = options.now - 86_400_000
        let files = self.files { $0.area == .temporary && $0.modified < old }
        let groups = inventory.outermostFolders { _, folder in
            inventory.parent(of: folder)?.area == .temporary
        }
        report(files, byFolder: groups, "it was last changed more than a day ago")
    }

    /// Caches is the place for databases that can be made again.
    mutating func findDatabasesInCaches() {
        let candidates = files { $0.kind == .foreign && $0.isPurgeable }
        let sideFiles = SideFiles(among: candidates, of: inventory)
        for index in candidates {
            let name = file(index).name.string.lowercased()
            // Databases that can be made again by their nature.
            guard !name.hasSuffix(".mbtiles"),
                !["cache", "thumb", "tile"].contains(where: { name.contains($0) }),
                // Its entry in the manifest says that it can be made again.
                entry(of: index) == nil, let evidence = databaseEvidence(index)
            else { continue }
            report([index] + sideFiles.sides(of: file(index)), evidence)
        }
    }

    /// What shows that a file is a database: how it begins, or else its extension. Opens the file.
    private mutating func databaseEvidence(_ index: Int) -> String? {
        let bytes = beginning(of: index, count: DatabaseFormat.beginning)
        if let bytes, DatabaseFormat.isBeginning(bytes) { return "it is a database" }
        return type(of: index) == .database ? "it is a database, by its name" : nil
    }

    mutating func findDocumentsInSupport() {
        let files = self.files {
            $0.kind == .foreign && $0.area == .applicationSupport && folder(of: $0).role?.isOwn != true
        }
        // What the manifest explains is in the right area, or misplaced.
        reportIrreplaceable(among: files.filter { entry(of: $0) == nil })
    }

    /// Folders and files that nothing explains, and that nothing uses any more.
    mutating func findForgottenFiles() {
        // If the app itself was not used for long, or this is an old copy of a container, nothing is forgotten.
        let lastUse = inventory.files.lazy.map(\.modified).max() ?? 0
        // What an app needs, it needs more often than twice a year.
        let before = min(lastUse, options.now) - 180 * 86_400_000
        let places = inventory.libraryFolders
        let groups = inventory.outermostFolders { number, folder in
            guard let parent = folder.parent, let name = folder.name.lastComponent else { return false }
            // Each is the matter of one part of the app, or of one library in it.
            return places.contains(parent) && !places.contains(number)
                && folder.area == inventory.folders[parent].area && folder.role?.isOwn != true
                && !SystemFolder.isOne(name)
        }
        var members: [Int: [Int]] = [:]
        var used: Set<Int> = []
        var single: [Int] = []
        for (index, file) in inventory.files.enumerated() where ![.link, .special].contains(file.kind) {
            // Neither the cache's, nor marked, nor a document of the user's.
            let isForgotten =
                file.modified < before && file.kind == .foreign && file.exclusions.isDisjoint(with: .marks)
                && type(of: index)?.isDocument != true && entry(of: index) == nil
            if let folder = groups[file.folder] {
                members[folder, default: []].append(index)
                if !isForgotten { used.insert(folder) }
            } else if isForgotten, places.contains(file.folder) {
                single.append(index)
            }
        }
        // Nothing is taken out for its age unless the age is stated.
        let stated = options.unusedFor.map { options.now - $0 } ?? .min
        for index in single where isUnread(index, since: before) {
            report([index], "it has not been used for long", isFixable: file(index).modified < stated)
        }
        for (folder, files) in members.sorted(by: { $0.key < $1.key })
        where !used.contains(folder) && files.allSatisfy({ isUnread($0, since: before) }) {
            report(
                files, "nothing in it has been used for long", folder: folder,
                isFixable: files.allSatisfy { file($0).modified < stated })
        }
    }

    /// The files where the user sees documents, that no rule has reported yet.
    private func filesAmongDocuments() -> [Int] {
        files {
            ($0.area == .documents || $0.area == .iCloudDrive)
                && ($0.kind == .foreign || $0.kind == .promoted) && packages[$0.folder] == nil
        }
    }

    mutating func findNonDocuments() {
        let exposure = options.settings?.isSharing == true ? ", and the user sees it" : ""
        let hiddenFolders = inventory.namedFolders { $0.string.hasPrefix(".") }
        let hidden = filesAmongDocuments().filter {
            guard let folder = hiddenFolders[file($0).folder] else {
                let name = file($0).name.string
                // The system makes some, such as those of iCloud Drive that are not on this device.
                return name.hasPrefix(".") && name != ".DS_Store" && name != ".localized"
                    && !name.hasSuffix(".icloud")
            }
            return inventory.folders[folder].name != ".Trash"
        }
        report(hidden, byFolder: hiddenFolders, "it is hidden")

        let databases = databaseFolders()
        let inDatabases = filesAmongDocuments().filter { databases[file($0).folder] != nil }
        report(inDatabases, byFolder: databases, "it is a database\(exposure)")

        let files = filesAmongDocuments()
        let sideFiles = SideFiles(among: files, of: inventory)
        var sides: Set<Int> = []
        for index in files {
            if type(of: index) == .unfinishedDownload {
                report([index], "it is an unfinished download\(exposure)")
            } else if let evidence = databaseEvidence(index) {
                let own = sideFiles.sides(of: file(index))
                report([index] + own, "\(evidence)\(exposure)")
                sides.formUnion(own)
            }
        }
        for index in sideFiles.ofDatabases where !sides.contains(index) {
            report([index], "it is a side file of a database\(exposure)")
        }
    }

    private func databaseFolders() -> [Int?] {
        // LevelDB and RocksDB are known by two of their files.
        var (current, manifests): (Set<Int>, Set<Int>) = ([], [])
        for file in filesAmongDocuments().lazy.map(file) {
            if file.name.string == "CURRENT" { current.insert(file.folder) }
            if file.name.string.hasPrefix("MANIFEST-") { manifests.insert(file.folder) }
        }
        return inventory.outermostFolders { number, folder in
            guard folder.parent != nil, let name = folder.name.lastComponent else { return false }
            return DatabaseFormat.isFolder(name) || current.contains(number) && manifests.contains(number)
        }
    }

    /// Reports the files among documents that are none by their type or name.
    mutating func reportDocuments(
        _ message: String, where isWrong: (FileType?, FilePath.Component) -> Bool
    ) {
        for index in filesAmongDocuments() where isWrong(type(of: index), file(index).name) {
            report([index], message)
        }
    }

    mutating func findEmptyFolders() {
        // Of a folder that cannot be read nobody knows.
        let unread = inventory.folders.indices.filter { !inventory.folders[$0].areMarksKnown }
        let counts = inventory.counts(in: inventory.files.map(\.folder) + unread)
        let hidden = inventory.namedFolders { $0.string.hasPrefix(".") }
        let groups = inventory.outermostFolders { number, folder in
            // The system makes Inbox, for documents from other apps.
            folder.area?.promise.isVisibleToUser == true && !inventory.isRootOfArea(number)
                && counts[number] == 0 && folder.role?.isOwn != true && folder.name != "Inbox"
                && hidden[number] == nil && packages[number] == nil
        }
        for (number, group) in groups.enumerated() where group == number && isStillWithoutFiles(number) {
            report([], "there is no file in it", folder: number)
        }
    }

    var hasCloudFolder: Bool { inventory.folders.contains { $0.area == .iCloudDrive } }

    mutating func findDocumentsNotInCloud() {
        guard hasCloudFolder else { return }
        let documents = files { $0.area == .documents && $0.kind == .foreign && $0.isVisible }
            .filter { irreplaceability(of: $0) != nil }
        guard !documents.isEmpty else { return }
        let message = "documents here are not on the user's other devices"
        report(documents, at: Area.documents.folderInContainer, message)
    }

    mutating func findUnreachableDocuments() {
        let documents = inventory.files.count { $0.area == .documents && $0.isVisible }
        guard documents > 0, let settings = options.settings else { return }
        let message: String? =
            switch (settings.isFileSharingEnabled, settings.opensDocumentsInPlace) {
            case (true, true): nil
            case (true, false):
                "without LSSupportsOpeningDocumentsInPlace, documents are not in the Files app"
            case (false, true): "without UIFileSharingEnabled, the Files app has documents for reading only"
            case (false, false): "the user can reach none of \(documents) documents"
            }
        if let message { report([], at: Area.documents.folderInContainer, message) }
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

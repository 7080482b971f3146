internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

extension Checkup {
    /// The files where the user sees documents, that no rule has reported yet.
    func filesAmongDocuments() -> [Int32] {
        files {
            ($0.area == .documents || $0.area == .iCloudDrive)
                && ($0.kind == .foreign || $0.kind == .promoted) && packages[Int($0.folder)] == nil
        }
    }
}

/// Files in Documents that are not user documents.
struct NoDocument: StorageRule {
    let info = RuleInfo(
        "no-document", .warning, [.t10, .t13, .t18, .t19, .g1],
        "A database, its side file, a hidden file or an unfinished download is in Documents.",
        fix: "Move it to Application Support, or to Caches.", by: .move(.applicationSupport))

    func check(_ checkup: inout Checkup) {
        let exposure = checkup.options.settings?.isSharing == true ? ", and the user sees it" : ""
        let hiddenFolders = checkup.inventory.namedFolders { $0.string.hasPrefix(".") }
        let hidden = checkup.filesAmongDocuments().filter {
            let file = checkup.file($0)
            guard let folder = hiddenFolders[Int(file.folder)] else {
                return file.name.string.hasPrefix(".") && !Self.isSystemName(file.name.string)
            }
            return checkup.inventory.folders[Int(folder)].name != ".Trash"
        }
        checkup.report(self, hidden, byFolder: hiddenFolders, "it is hidden")

        let databaseFolders = databaseFolders(checkup)
        let inDatabases = checkup.filesAmongDocuments().filter {
            databaseFolders[Int(checkup.file($0).folder)] != nil
        }
        checkup.report(self, inDatabases, byFolder: databaseFolders, "it is a database\(exposure)")

        let files = checkup.filesAmongDocuments()
        let sideFiles = SideFiles(among: files, of: checkup)
        var sides: Set<Int32> = []
        for index in files {
            if checkup.type(of: index) == .unfinishedDownload {
                checkup.report(self, index, "it is an unfinished download\(exposure)")
            } else if let evidence = checkup.databaseEvidence(index) {
                let own = sideFiles.sides(of: index, in: checkup)
                checkup.report(
                    self, [index] + own, at: checkup.inventory.path(of: checkup.file(index)),
                    "\(evidence)\(exposure)")
                sides.formUnion(own)
            }
        }
        for index in sideFiles.ofDatabases where !sides.contains(index) {
            checkup.report(self, index, "it is a side file of a database\(exposure)")
        }
    }

    /// Whether the system made a hidden file, such as one of iCloud Drive that is not on this device.
    private static func isSystemName(_ name: String) -> Bool {
        name == ".DS_Store" || name == ".localized" || name.hasSuffix(".icloud")
    }

    private func databaseFolders(_ checkup: Checkup) -> [Int32?] {
        var names: [Int32: [FilePath.Component]] = [:]
        for index in checkup.filesAmongDocuments() {
            let file = checkup.file(index)
            // The only names that matter.
            guard file.name.string == "CURRENT" || file.name.string.hasPrefix("MANIFEST-") else { continue }
            names[file.folder, default: []].append(file.name)
        }
        return checkup.inventory.outermostFolders { number, folder in
            guard folder.parent != nil, let name = folder.name.lastComponent else { return false }
            return DatabaseFormat.isFolder(name) || DatabaseFormat.isFolder(of: names[number] ?? [])
        }
    }
}

/// Files among the documents that users see that are none, by their names.
struct NameAmongDocuments: StorageRule {
    let info: RuleInfo
    let message: String
    let isWrong: @Sendable (FileType?, FilePath.Component) -> Bool

    static let log = NameAmongDocuments(
        info: RuleInfo(
            "log-among-documents", .warning, [.t10, .t13, .t18],
            "A log is among the documents that the user sees.",
            fix: "Move it to Caches, or to Application Support.", by: .move(.caches)),
        message: "it is a log", isWrong: { type, _ in type == .log })

    static let settings = NameAmongDocuments(
        info: RuleInfo(
            "settings-among-documents", .warning, [.t13, .t18, .t31],
            "A file with settings or the app's state is among the documents that the user sees.",
            fix: "Move it to Application Support.", by: .move(.applicationSupport)),
        message: "it holds settings or state, by its name", isWrong: { type, _ in type == .settings })

    static let machineMade = NameAmongDocuments(
        info: RuleInfo(
            "machine-name-among-documents", .warning, [.t10, .t18],
            "A file among the documents that the user sees has a name that only a program understands.",
            fix: "Give it the name that the user knows, or move it to Application Support.",
            by: .move(.applicationSupport)),
        message: "the user cannot tell from its name what it is", isWrong: { _, name in name.isMachineMade })

    func check(_ checkup: inout Checkup) {
        for index in checkup.filesAmongDocuments()
        where isWrong(checkup.type(of: index), checkup.file(index).name) {
            checkup.report(self, index, message)
        }
    }
}

/// Folders that the user sees and that hold nothing.
struct EmptyFolder: StorageRule {
    let info = RuleInfo(
        "empty-folder", .note, [.t10, .t13],
        "A folder that the user sees is empty.",
        fix: "Delete it. Create a folder when its first document is stored.", by: .removeFolder)

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        var isEmpty = inventory.folders.map(\.areMarksKnown)
        for file in inventory.files { isEmpty[Int(file.folder)] = false }
        // A folder comes after its parent.
        for (number, folder) in inventory.folders.enumerated().reversed() where !isEmpty[number] {
            if let parent = folder.parent { isEmpty[Int(parent)] = false }
        }
        let hidden = checkup.inventory.namedFolders { $0.string.hasPrefix(".") }
        let groups = checkup.inventory.outermostFolders { number, folder in
            guard let parent = folder.parent, folder.area?.promise.isVisibleToUser == true,
                inventory.folders[Int(parent)].area == folder.area
            else { return false }
            // The system makes Inbox, for documents from other apps.
            return isEmpty[Int(number)] && folder.role?.isOwn != true && folder.name != "Inbox"
        }
        for (number, group) in groups.enumerated() {
            let folder = Int32(number)
            guard group == folder, hidden[number] == nil, checkup.packages[number] == nil,
                checkup.isStillWithoutFiles(folder)
            else { continue }
            checkup.report(
                self, inventory.path(ofFolder: folder), "there is no file in it", folder: folder)
        }
    }
}

/// Documents on this device only, of an app that has iCloud Drive.
struct DocumentsNotInCloud: StorageRule {
    let info = RuleInfo(
        "documents-not-in-cloud", .note, [.t9, .t36],
        "Documents of the user's are on this device only, though the app has iCloud Drive.",
        fix: "Offer to keep them in iCloud Drive, unless there is a reason to have them on one device only.")

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        guard inventory.folders.contains(where: { $0.area == .iCloudDrive }) else { return }
        var documents: [Int32] = []
        for index in checkup.files(where: { $0.area == .documents && $0.kind == .foreign && $0.isVisible })
        where checkup.irreplaceability(of: index) != nil {
            documents.append(index)
        }
        guard !documents.isEmpty else { return }
        checkup.report(
            self, documents, at: inventory.displayed(inventory.place.areas.documents),
            "documents here are not on the user's other devices")
    }
}

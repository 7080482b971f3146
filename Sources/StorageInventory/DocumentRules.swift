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

    /// Files in Documents that are not user documents.
    mutating func findNonDocuments() {
        let exposure = options.settings?.isSharing == true ? ", and the user sees it" : ""
        let hiddenFolders = inventory.namedFolders { $0.string.hasPrefix(".") }
        let hidden = filesAmongDocuments().filter {
            let file = self.file($0)
            guard let folder = hiddenFolders[Int(file.folder)] else {
                return file.name.string.hasPrefix(".") && !isSystemName(file.name.string)
            }
            return inventory.folders[Int(folder)].name != ".Trash"
        }
        report(hidden, byFolder: hiddenFolders, "it is hidden")

        let databaseFolders = databaseFolders()
        let inDatabases = filesAmongDocuments().filter {
            databaseFolders[Int(file($0).folder)] != nil
        }
        report(inDatabases, byFolder: databaseFolders, "it is a database\(exposure)")

        let files = filesAmongDocuments()
        let sideFiles = SideFiles(among: files, of: self)
        var sides: Set<Int32> = []
        for index in files {
            if type(of: index) == .unfinishedDownload {
                report(index, "it is an unfinished download\(exposure)")
            } else if let evidence = databaseEvidence(index) {
                let own = sideFiles.sides(of: index, in: self)
                report(
                    [index] + own, at: inventory.path(of: file(index)),
                    "\(evidence)\(exposure)")
                sides.formUnion(own)
            }
        }
        for index in sideFiles.ofDatabases where !sides.contains(index) {
            report(index, "it is a side file of a database\(exposure)")
        }
    }

    /// Whether the system made a hidden file, such as one of iCloud Drive that is not on this device.
    private func isSystemName(_ name: String) -> Bool {
        name == ".DS_Store" || name == ".localized" || name.hasSuffix(".icloud")
    }

    private func databaseFolders() -> [Int32?] {
        var names: [Int32: [FilePath.Component]] = [:]
        for index in filesAmongDocuments() {
            let file = self.file(index)
            // The only names that matter.
            guard file.name.string == "CURRENT" || file.name.string.hasPrefix("MANIFEST-") else { continue }
            names[file.folder, default: []].append(file.name)
        }
        return inventory.outermostFolders { number, folder in
            guard folder.parent != nil, let name = folder.name.lastComponent else { return false }
            return DatabaseFormat.isFolder(name) || DatabaseFormat.isFolder(of: names[number] ?? [])
        }
    }

    /// Reports the files among documents that are none by their type or name.
    mutating func reportDocuments(
        _ message: String, where isWrong: (FileType?, FilePath.Component) -> Bool
    ) {
        for index in filesAmongDocuments() where isWrong(type(of: index), file(index).name) {
            report(index, message)
        }
    }

    /// Folders that the user sees and that hold nothing.
    mutating func findEmptyFolders() {
        var isEmpty = inventory.folders.map(\.areMarksKnown)
        for file in inventory.files { isEmpty[Int(file.folder)] = false }
        // A folder comes after its parent.
        for (number, folder) in inventory.folders.enumerated().reversed() where !isEmpty[number] {
            if let parent = folder.parent { isEmpty[Int(parent)] = false }
        }
        let hidden = inventory.namedFolders { $0.string.hasPrefix(".") }
        let groups = inventory.outermostFolders { number, folder in
            guard let parent = folder.parent, folder.area?.promise.isVisibleToUser == true,
                inventory.folders[Int(parent)].area == folder.area
            else { return false }
            // The system makes Inbox, for documents from other apps.
            return isEmpty[Int(number)] && folder.role?.isOwn != true && folder.name != "Inbox"
        }
        for (number, group) in groups.enumerated() {
            let folder = Int32(number)
            guard group == folder, hidden[number] == nil, packages[number] == nil,
                isStillWithoutFiles(folder)
            else { continue }
            report(inventory.path(ofFolder: folder), "there is no file in it", folder: folder)
        }
    }

    /// Documents on this device only, of an app that has iCloud Drive.
    mutating func findDocumentsNotInCloud() {
        guard inventory.folders.contains(where: { $0.area == .iCloudDrive }) else { return }
        var documents: [Int32] = []
        for index in files(where: { $0.area == .documents && $0.kind == .foreign && $0.isVisible })
        where irreplaceability(of: index) != nil {
            documents.append(index)
        }
        guard !documents.isEmpty else { return }
        report(
            documents, at: inventory.displayed(inventory.place.areas.documents),
            "documents here are not on the user's other devices")
    }
}

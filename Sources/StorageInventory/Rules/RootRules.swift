internal import FileSystem
internal import PrefetchCache
internal import SystemPackage

/// A cache root that backup programs do not recognise.
struct MissingCacheTag: StorageRule {
    let info = RuleInfo(
        name: "missing-cache-tag", severity: .warning,
        explanation: "The cache is not in a folder with a CACHEDIR.TAG, so backup programs include it.",
        guideline: Guideline.cacheTag,
        fix: "Delete a CACHEDIR.TAG that is invalid. Open the cache once: it creates the tag.")

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        for folder in inventory.folders
        where folder.role == .cachesRoot && folder.areMarksKnown && !folder.exclusions.contains(.cacheTag) {
            checkup.report(
                self, inventory.displayed(inventory.place.areas.caches),
                "there is no valid CACHEDIR.TAG")
        }
    }
}

/// A root of the cache that another user owns or may write to.
struct WrongPermissions: StorageRule {
    let info = RuleInfo(
        name: "wrong-permissions", severity: .error,
        explanation:
            "A root of the cache belongs to another user, or others may write to it: it is not opened.",
        guideline: Guideline.package,
        fix: "`chown` it to the owner of the folder around it, and `chmod 700` it.")

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        for (number, folder) in inventory.folders.enumerated()
        where folder.role == .cachesRoot || folder.role == .supportRoot {
            let path = inventory.path(ofFolder: Int32(number))
            let owner = folder.parent.map { inventory.folders[Int($0)].attributes.owner }
            if !folder.attributes.permissions.isDisjoint(with: [.groupWrite, .otherWrite]) {
                checkup.report(self, path, "others may write to it")
            } else if let owner, owner != folder.attributes.owner {
                let own = folder.attributes.owner
                checkup.report(self, path, "it belongs to user \(own), the folder around it to user \(owner)")
            }
        }
    }
}

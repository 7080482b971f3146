package import StorageAreas
package import SystemPackage

/// The place of which an inventory is taken.
package struct InventoryPlace: Sendable {
    package let areas: StorageAreas
    /// The container of the areas, all of which is looked at; `nil` for an application, of which only the
    /// areas are.
    package let container: FilePath?

    package init(areas: StorageAreas, container: FilePath?) {
        self.areas = areas
        self.container = container
    }

    /// Whether the areas themselves decide what is backed up. For an application on Linux, only marks and tags do.
    var isBackupDecidedByArea: Bool {
        #if canImport(Darwin)
            true
        #else
            container != nil
        #endif
    }

    /// The roots of the walks, each with its area. No folder is walked twice.
    var roots: [(path: FilePath, area: Area?)] {
        if let container { return [(container, nil)] }
        let areas = Area.allCases.compactMap { area in
            self.areas.path(of: area).map { (path: $0.lexicallyNormalized(), area: area) }
        }
        // The user may have put one area in another, or two in the same folder.
        return areas.enumerated().filter { index, root in
            !areas.enumerated().contains { other, outer in
                other != index && root.path.starts(with: outer.path)
                    && (root.path != outer.path || other < index)
            }
        }.map { ($0.element.path, $0.element.area) }
    }

    /// The areas by their paths, to recognise those below the root of a walk.
    var inner: [FilePath: Area] {
        var inner: [FilePath: Area] = [:]
        for area in Area.allCases.reversed() {
            if let path = areas.path(of: area) { inner[path.lexicallyNormalized()] = area }
        }
        return inner
    }
}

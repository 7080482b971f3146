package import StorageAreas
package import SystemPackage

/// What an inventory is taken of.
package struct InventoryPlace: Sendable {
    package let areas: StorageAreas
    /// The container that the areas lie in, all of which is looked at; `nil` for an application, whose areas
    /// are all that is its own.
    package let container: FilePath?

    package init(areas: StorageAreas, container: FilePath?) {
        self.areas = areas
        self.container = container
    }

    /// Whether the areas themselves decide what is backed up. On Linux only marks and tags do.
    var isBackupDecidedByArea: Bool {
        #if canImport(Darwin)
            true
        #else
            container != nil
        #endif
    }

    /// Where walks begin, each with its area. No folder is walked twice.
    var roots: [(path: FilePath, area: Area?)] {
        if let container { return [(container, nil)] }
        let areas = Area.allCases.compactMap { area in
            self.areas.path(of: area).map { (path: $0.lexicallyNormalized(), area: area) }
        }
        // One area may lie in another, or be another, by the user's own choice.
        return areas.enumerated().filter { index, root in
            !areas.enumerated().contains { other, outer in
                other != index && root.path.starts(with: outer.path)
                    && (root.path != outer.path || other < index)
            }
        }.map { ($0.element.path, $0.element.area) }
    }

    /// The areas whose roots lie below where a walk begins, by their paths.
    var inner: [FilePath: Area] {
        var inner: [FilePath: Area] = [:]
        for area in Area.allCases.reversed() {
            if let path = areas.path(of: area) { inner[path.lexicallyNormalized()] = area }
        }
        return inner
    }
}

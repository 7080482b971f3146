public import SystemPackage

/// The identity of a file as an area and a path in it, the only one that is ever stored.
///
/// The absolute path of an area changes with every update of an app on some platforms, so that a
/// stored absolute path is dead after the next update.
public struct AreaPath: Sendable, Hashable {
    public let area: Area
    /// Relative to the area, with at least one component, and none that is `.` or `..`.
    public let relative: FilePath

    /// Drops `.` from `relative`, so that one file has one identity.
    ///
    /// Returns `nil` for an absolute or empty path and for one with a `..`: folding `a/../b` to `b`
    /// would name another file than the kernel does where `a` is a symbolic link.
    public init?(area: Area, relative: FilePath) {
        let isConfined = relative.isRelative && !relative.components.contains { $0.kind == .parentDirectory }
        let components = relative.components.filter { $0.kind == .regular }
        guard isConfined, !components.isEmpty else { return nil }
        self.area = area
        self.relative = FilePath(root: nil, components)
    }
}

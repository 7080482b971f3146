public import SystemPackage

/// The identity of a file: an area and a path in it. No other identity is ever stored.
///
/// On some platforms, the absolute path of an area changes with every update of an app, which
/// invalidates stored absolute paths.
public struct AreaPath: Sendable, Hashable {
    /// The area that the path starts from.
    public let area: Area
    /// The path relative to the area, with at least one component, none of which is `.` or `..`.
    public let relative: FilePath

    /// Creates an identity, dropping `.` from `relative`, so that one file has one identity.
    ///
    /// Returns `nil` for an absolute or empty path and for one with a `..`: folding `a/../b` to `b`
    /// would name a different file from the kernel's where `a` is a symbolic link.
    public init?(area: Area, relative: FilePath) {
        let isConfined = relative.isRelative && !relative.components.contains { $0.kind == .parentDirectory }
        let components = relative.components.filter { $0.kind == .regular }
        guard isConfined, !components.isEmpty else { return nil }
        self.area = area
        self.relative = FilePath(root: nil, components)
    }
}

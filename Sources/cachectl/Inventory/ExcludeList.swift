internal import Foundation
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// The lines that tell a backup tool what to leave out.
struct ExcludeList {
    let tool: BackupTool

    /// The line that excludes one path; `nil` if the tool's syntax cannot express its name.
    ///
    /// | Tool | Option | Syntax |
    /// | --- | --- | --- |
    /// | tar | `--anchored -X` | a shell pattern |
    /// | restic | `--exclude-file` | a shell pattern, in which `$` begins a variable |
    /// | borg | `--exclude-from` | a regular expression |
    /// | others | | the path |
    func line(excluding path: FilePath) -> [UInt8]? {
        switch tool {
        case .system, .none:
            return path.bytes.contains(UInt8(ascii: "\n")) ? nil : path.bytes
        case .tar, .restic:
            guard path.isText, !path.string.contains("\n") else { return nil }
            var line = ""
            for scalar in path.string.unicodeScalars {
                switch scalar {
                case "*", "?", "[", "\\": line += "\\\(scalar)"
                case "$" where tool == .restic: line += "$$"
                default: line.unicodeScalars.append(scalar)
                }
            }
            // Both remove spaces at the end of a line.
            if line.last?.isWhitespace == true { line = "\(line.dropLast())[\(line.suffix(1))]" }
            return Array(line.utf8)
        case .borg:
            guard path.isText else { return nil }
            // Borg compares paths without the leading separator.
            let pattern = path.string.dropFirst().unicodeScalars.map { scalar in
                scalar == "/" || scalar.value > 0x7E || scalar.properties.isAlphabetic
                    ? String(scalar) : String(format: "\\x%02x", scalar.value)
            }
            return Array("re:^\(pattern.joined())(/|$)".utf8)
        }
    }
}

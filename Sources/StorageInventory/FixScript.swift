internal import PrefetchCaching
package import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

/// What a script can do about a finding.
package enum Remedy: Hashable, Sendable {
    /// To the same place in another area.
    case move(Area)
    /// Excludes from backups: a file, or the folder that stands for several.
    case exclude
    /// Includes in backups.
    case include
    /// Takes out of the container, to be deleted by the user.
    case discard
    case removeFolder
    /// Lets nobody but its owner into a folder.
    case restrict
    /// Puts a `CACHEDIR.TAG` into the folder of caches.
    case tag
}

/// A POSIX shell script that carries out the remedies of findings, for a person to read and to run.
///
/// A comment says what each command is for. What a script cannot do, or must not, is a comment as well. No command replaces
/// anything, and none of the cache's own files is moved.
package struct FixScript {
    private static let head = """
        #!/bin/sh
        # Quit the app, read this, and run it: sh FILE
        # What is taken out goes to this folder, or to another one that is named: sh FILE FOLDER
        discarded=
        """

    private static let functions = """

        discarded=${1:-$discarded}
        status=0

        move() { # FILE TARGET
            if [ -e "$2" ] || [ -L "$2" ]; then
                echo "left $1: there is something at $2" >&2
                status=1
            else
                mkdir -p -m 700 "${2%/*}" && mv -n "$1" "$2" || status=1
            fi
        }
        remove_empty() { rmdir "$1" 2>/dev/null || :; }
        tag() { (set -C && printf '%s\\n' '\(String(decoding: CacheDirectoryTag.signature, as: UTF8.self))' >"$1/CACHEDIR.TAG") || status=1; }
        \(markFunctions)

        """

    #if canImport(Darwin)
        private static let markFunctions = """
            exclude() { tmutil addexclusion "$1" || status=1; }
            include() {
                tmutil removeexclusion "$1" || status=1
                xattr -d \(BackupMark.xdgAttribute) "$1" 2>/dev/null || :
                chflags dump "$1" || status=1
            }
            """
    #else
        private static let markFunctions = """
            exclude() {
                setfattr -n \(BackupMark.xdgAttribute) -v false "$1" || status=1
                chattr +d "$1" 2>/dev/null || :
            }
            include() {
                setfattr -x \(BackupMark.xdgAttribute) "$1" 2>/dev/null || :
                setfattr -x \(BackupMark.appleAttribute) "$1" 2>/dev/null || :
                chattr -d "$1" 2>/dev/null || :
            }
            """
    #endif

    private let inventory: FileInventory
    private let fileSystem: any FileSystem
    private var script: [UInt8]
    /// Folders that a finding empties, or may.
    private var emptied: Set<FilePath> = []

    /// - Throws: The error of a system call by which a file was looked at.
    package static func text(
        for findings: [Finding], of inventory: FileInventory, in fileSystem: any FileSystem
    ) throws -> [UInt8] {
        var script = FixScript(of: inventory, in: fileSystem)
        for finding in findings { try script.add(finding) }
        return script.script + Array("\nexit $status".utf8)
    }

    private init(of inventory: FileInventory, in fileSystem: any FileSystem) {
        self.inventory = inventory
        self.fileSystem = fileSystem
        // Beside the container, in which it would be found again.
        let place = inventory.place
        let folder = (place.container ?? place.areas.applicationSupport).lexicallyNormalized()
        let discarded = FilePath(bytes: folder.bytes + Array(".discarded".utf8))
        script = Array(Self.head.utf8) + Self.quoted(discarded) + Array(Self.functions.utf8)
    }

    private mutating func add(_ finding: Finding) throws {
        comment("")
        comment("\(finding.path.displayText): \(finding.message) [\(finding.rule.name)]")
        guard let remedy = finding.remedy else { return comment("By hand: \(finding.rule.fix)") }
        let files = finding.members.map { inventory.files[$0] }
        let folder = finding.folder.map(inventory.absolutePath(ofFolder:))
        switch remedy {
        case .exclude:
            if let folder { return command("exclude", folder) }
            for file in files {
                if file.kind == .promoted, file.isBackupIntended {
                    left(file, "it was opened with the policy to back it up")
                } else {
                    command("exclude", inventory.absolutePath(of: file))
                }
            }
        case .include:
            if let number = finding.folder, inventory.folders[number].isTagged {
                return comment("By hand: remove its CACHEDIR.TAG.")
            }
            for path in folder.map({ [$0] }) ?? files.map(inventory.absolutePath(of:)) { try include(path) }
        case .move(let area): for file in files { try move(file, to: area) }
        case .discard: for file in files { discard(file) }
        case .removeFolder:
            // A folder comes after its parent.
            for number in inventory.folders.indices.reversed()
            where finding.folder.map(inventory.lineage(ofFolder: number).contains) == true {
                removeFolderIfEmpty(number)
            }
        case .restrict: if let folder { command("chmod 700", folder) }
        case .tag: command("tag", inventory.place.areas.caches)
        }
        // The deepest first.
        for path in emptied.sorted(by: { $1.bytes.lexicographicallyPrecedes($0.bytes) }) {
            command("remove_empty", path)
        }
        emptied = []
    }

    private mutating func include(_ path: FilePath) throws(FileSystemError) {
        let marks: Exclusions
        do {
            marks = try fileSystem.withFile(path, in: .workingDirectory, .readWithoutAccessTime) {
                file throws(FileSystemError) in try Exclusions(markedOn: file, in: fileSystem)
            }
        } catch {
            guard error.isNotFound else { throw error }
            return comment("left \(path.displayText): it is gone")
        }
        if marks.isEmpty {
            comment("left \(path.displayText): a folder above it, or its CACHEDIR.TAG, excludes it")
        } else {
            command("include", path)
        }
    }

    private mutating func move(_ file: InventoryFile, to area: Area) throws {
        guard file.kind == .foreign else { return left(file, "it belongs to the cache") }
        guard let root = inventory.place.areas.path(of: area) else {
            return left(file, "there is no \(area.name) here")
        }
        var path = inventory.pathInArea(ofFolder: file.folder)
        if file.area == nil { _ = path.removePrefix("Library") }
        // A link among the folders could lead anywhere.
        var folder = root
        for component in path.components {
            folder.append(component)
            if try fileSystem.attributes(of: folder, in: .workingDirectory)?.kind == .symbolicLink {
                return left(file, "\(folder.displayText) is a link")
            }
        }
        command("move", inventory.absolutePath(of: file), folder.appending(file.name))
        removeFolderIfEmpty(file.folder)
    }

    private mutating func discard(_ file: InventoryFile) {
        guard file.kind == .foreign else { return left(file, "it belongs to the cache") }
        // Under its area, since names may repeat.
        let area = FilePath(file.area?.name ?? "other")
        let path = area.pushing(inventory.pathInArea(ofFolder: file.folder)).appending(file.name)
        script += Array("move ".utf8) + Self.quoted(inventory.absolutePath(of: file))
        script += Array(" \"$discarded\"/".utf8) + Self.quoted(path) + Array("\n".utf8)
        removeFolderIfEmpty(file.folder)
    }

    /// Removes a folder if it is empty, and then those around it.
    private mutating func removeFolderIfEmpty(_ number: Int) {
        for number in inventory.lineage(ofFolder: number).reversed() {
            let folder = inventory.folders[number]
            // What is marked or tagged was made on purpose.
            guard folder.parent != nil, !inventory.isRootOfArea(number), folder.role?.isOwn != true,
                !folder.isExcludedItself
            else { return }
            emptied.insert(inventory.absolutePath(ofFolder: number))
        }
    }

    /// On one line, whatever is in a name or a manifest: what came after a line break would be run.
    private mutating func comment(_ text: String) {
        let line = text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "?"
            default: String(scalar)
            }
        }.joined()
        script += Array((line.isEmpty ? "\n" : "# \(line)\n").utf8)
    }

    private mutating func left(_ file: InventoryFile, _ reason: String) {
        comment("left \(inventory.path(of: file).displayText): \(reason)")
    }

    /// Paths are absolute: none looks like an option.
    private mutating func command(_ name: String, _ paths: FilePath...) {
        script += Array(name.utf8)
        for path in paths { script += Array(" ".utf8) + Self.quoted(path) }
        script += Array("\n".utf8)
    }

    /// As one word of the shell, whatever its bytes are.
    private static func quoted(_ path: FilePath) -> [UInt8] {
        let quote = UInt8(ascii: "'")
        return [quote] + path.bytes.flatMap { $0 == quote ? Array(#"'\''"#.utf8) : [$0] } + [quote]
    }
}

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
    private static let functions = """
        #!/bin/sh
        # Quit the app, read this, and run it: sh FILE FOLDER
        discarded=${1:?name a folder outside the container, for what is taken out: sh FILE FOLDER}
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
        script = Array(Self.functions.utf8)
    }

    private mutating func add(_ finding: Finding) throws {
        comment("")
        comment("\(finding.path.displayText): \(finding.message) [\(finding.rule.name)]")
        guard let remedy = finding.remedy else { return comment("By hand: \(finding.rule.fix)") }
        let folder = finding.folder.map { (number: $0, path: inventory.absolutePath(ofFolder: $0)) }
        switch (remedy, folder) {
        case (.exclude, let folder?): command("exclude", folder.path)
        case (.include, let folder?):
            guard !inventory.folders[Int(folder.number)].isTagged else {
                return comment("By hand: remove its CACHEDIR.TAG.")
            }
            try include(folder.path)
        case (.removeFolder, let folder?): removeFolders(in: folder.number)
        case (.restrict, let folder?): command("chmod 700", folder.path)
        case (.removeFolder, nil), (.restrict, nil): break
        case (.tag, _): command("tag", inventory.place.areas.caches)
        case (.exclude, nil):
            for index in finding.members {
                let file = inventory.files[Int(index)]
                if file.kind == .promoted, file.isBackupIntended {
                    left(index, "it was opened with the policy to back it up")
                } else {
                    command("exclude", inventory.absolutePath(of: index))
                }
            }
        case (.include, nil):
            for index in finding.members { try include(inventory.absolutePath(of: index)) }
        case (.move(let area), _): for index in finding.members { try move(index, to: area) }
        case (.discard, _): for index in finding.members { discard(index) }
        }
        // The deepest first.
        for path in emptied.sorted(by: { $1.bytes.lexicographicallyPrecedes($0.bytes) }) {
            command("remove_empty", path)
        }
        emptied = []
    }

    private mutating func include(_ path: FilePath) throws(FileSystemError) {
        var isMarked = false
        do {
            isMarked = try fileSystem.withFile(path, in: .workingDirectory, .readWithoutAccessTime) {
                file throws(FileSystemError) in
                let mark = BackupMark(fileSystem: fileSystem)
                if try mark.isNoDump(file) { return true }
                if try mark.attribute(BackupMark.xdgAttribute, of: file) != nil { return true }
                return try mark.attribute(BackupMark.appleAttribute, of: file) != nil
            }
        } catch {
            guard error.isNotFound else { throw error }
            return comment("left \(path.displayText): it is gone")
        }
        if isMarked {
            command("include", path)
        } else {
            comment("left \(path.displayText): a folder above it, or its CACHEDIR.TAG, excludes it")
        }
    }

    private mutating func move(_ index: Int32, to area: Area) throws {
        let file = inventory.files[Int(index)]
        guard file.kind == .foreign else { return left(index, "it belongs to the cache") }
        guard let root = inventory.place.areas.path(of: area) else {
            return left(index, "there is no \(area.name) here")
        }
        var path = inventory.pathInArea(ofFolder: file.folder)
        if file.area == nil { _ = path.removePrefix("Library") }
        // A link among the folders could lead anywhere.
        var folder = root
        for component in path.components {
            folder.append(component)
            if try fileSystem.attributes(of: folder, in: .workingDirectory)?.kind == .symbolicLink {
                return left(index, "\(folder.displayText) is a link")
            }
        }
        command("move", inventory.absolutePath(of: index), folder.appending(file.name))
        removeFolderIfEmpty(file.folder)
    }

    private mutating func discard(_ index: Int32) {
        let file = inventory.files[Int(index)]
        guard file.kind == .foreign else { return left(index, "it belongs to the cache") }
        // Under its area, since names may repeat.
        let area = FilePath(file.area?.name ?? "other")
        let path = area.pushing(inventory.pathInArea(ofFolder: file.folder)).appending(file.name)
        script += Array("move ".utf8) + Self.quoted(inventory.absolutePath(of: index))
        script += Array(" \"$discarded\"/".utf8) + Self.quoted(path) + Array("\n".utf8)
        removeFolderIfEmpty(file.folder)
    }

    // MARK: Folders

    /// Removes a folder that holds nothing but folders, and those around it that only held it.
    private mutating func removeFolders(in folder: Int32) {
        // A folder comes after its parent.
        for number in inventory.folders.indices.reversed().map(Int32.init)
        where inventory.lineage(ofFolder: number).contains(folder) {
            removeFolderIfEmpty(number)
        }
    }

    /// Removes a folder if it is empty, and then those around it.
    private mutating func removeFolderIfEmpty(_ number: Int32) {
        var next: Int32? = number
        while let number = next {
            let folder = inventory.folders[Int(number)]
            // What is marked or tagged was made on purpose.
            guard folder.parent != nil, !inventory.isRootOfArea(number), folder.role?.isOwn != true,
                !folder.isExcludedItself
            else { return }
            emptied.insert(inventory.absolutePath(ofFolder: number))
            next = folder.parent
        }
    }

    // MARK: Lines

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

    private mutating func left(_ index: Int32, _ reason: String) {
        comment("left \(inventory.displayed(inventory.absolutePath(of: index)).displayText): \(reason)")
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

extension FileInventory {
    func absolutePath(of index: Int32) -> FilePath {
        let file = files[Int(index)]
        return absolutePath(ofFolder: file.folder).appending(file.name)
    }
}

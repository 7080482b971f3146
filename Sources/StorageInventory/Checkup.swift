internal import PrefetchCaching
package import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
package import SystemPackage

/// Checks an inventory against the rules.
package struct Checkup {
    /// Additional inputs for the rules.
    package struct Options: Sendable {
        /// Milliseconds since 1970.
        package var now: Int64
        /// How long an excluded file may stay unused, in milliseconds. Unless it is stated, files are reported after 30
        /// days, and no fix takes them out.
        package var unusedFor: Int64?
        /// The settings in the app's `Info.plist`.
        package var settings: AppSettings?
        /// What the app's developers say about its files.
        package var manifest: StorageManifest?

        package init(
            now: Int64, unusedFor: Int64? = nil, settings: AppSettings? = nil,
            manifest: StorageManifest? = nil
        ) {
            self.now = now
            self.unusedFor = unusedFor
            self.settings = settings
            self.manifest = manifest
        }
    }

    let inventory: FileInventory
    let options: Options
    let fileSystem: any FileSystem
    let codecs = CodecPool(parallelism: 1)
    /// Which entries of the manifest explain the files; see ``StorageManifest/numbers(for:)``.
    let entryNumbers: [Int?]
    private var reader: FileReader
    /// The rule that is being applied.
    private var rule = StorageRules.infos[0]
    private var findings: [Finding] = []
    private var problems: [FileInventory.Problem] = []
    private var claimed: Set<Int> = []
    /// By the place of their entries in the ledger.
    private var verdicts: [Int: FileJudge.Verdict?] = [:]
    /// For each folder, the document that it is part of, such as `Novel.pages`, whose content is its own affair.
    let packages: [Int?]
    /// The types of files that the cache did not create. Everything in a package has the type of the package.
    private let types: [FileType?]

    private init(_ inventory: FileInventory, _ options: Options, _ fileSystem: any FileSystem) {
        self.inventory = inventory
        self.options = options
        self.fileSystem = fileSystem
        reader = FileReader(fileSystem)
        let packages = inventory.namedFolders { FileType($0)?.isDocument == true }
        self.packages = packages
        types = inventory.files.map { file in
            guard file.kind == .foreign || file.kind == .promoted else { return nil }
            guard let package = packages[file.folder] else { return FileType(file.name) }
            return inventory.folders[package].name.lastComponent.flatMap(FileType.init)
        }
        entryNumbers = options.manifest?.numbers(for: inventory) ?? inventory.files.map { _ in nil }
    }

    /// Applies all rules in order.
    ///
    /// - Complexity: O(*n*) in the number of files. Files in Documents and foreign files in Caches are opened, and files
    ///   of equal length that begin alike are read completely.
    ///
    /// - Returns: The findings, errors first, each severity in the order of the rules, and the files that could not be
    ///   read.
    package static func run(
        on inventory: FileInventory, _ options: Options, in fileSystem: any FileSystem
    ) -> (findings: [Finding], problems: [FileInventory.Problem]) {
        var checkup = Checkup(inventory, options, fileSystem)
        for rule in StorageRules.all {
            checkup.rule = rule.info
            rule.check(&checkup)
        }
        let findings = Severity.allCases.flatMap { severity in
            checkup.findings.filter { $0.rule.severity == severity }
        }
        return (findings, checkup.problems)
    }

    /// The matching files that no rule has reported yet.
    func files(where isWanted: (InventoryFile) -> Bool) -> [Int] {
        inventory.files.indices.filter { !claimed.contains($0) && isWanted(inventory.files[$0]) }
    }

    func file(_ index: Int) -> InventoryFile { inventory.files[index] }
    func type(of index: Int) -> FileType? { types[index] }
    func folder(of file: InventoryFile) -> InventoryFolder { inventory.folders[file.folder] }

    /// What the manifest says of a file.
    func entry(of index: Int) -> StorageManifest.Entry? {
        entryNumbers[index].flatMap { options.manifest?.entries[$0] }
    }

    /// The first `count` bytes of a file, or `nil` if it cannot be read.
    mutating func beginning(of index: Int, count: Int) -> [UInt8]? {
        look(at: index) { file, fileSystem in try fileSystem.bytes(of: file, count: count) }
    }

    /// Whether a file was not read since a time, in milliseconds since 1970, as far as that is known.
    mutating func isUnread(_ index: Int, since time: Int64) -> Bool {
        let accessed = look(at: index) { file, fileSystem in try fileSystem.accessTime(of: file) } ?? nil
        return accessed.map { $0 / 1_000_000 < time } ?? true
    }

    /// Opens a file to examine it. A file that cannot be read is recorded as a problem, and skipped by rules.
    mutating func look<Result>(
        at index: Int, _ body: (Descriptor, any FileSystem) throws -> Result
    ) -> Result? {
        do {
            return try reader.withFile(file(index), of: inventory, body)
        } catch {
            // An invalid item, or a file that has since been replaced by something else, is not a read problem.
            if let error = FileSystemError(causing: error), !error.isNotRegularFile {
                note(error, at: inventory.path(of: file(index)))
            }
            return nil
        }
    }

    /// Whether an opened file is still what was opened, and the other files of a bundle; `nil` if that cannot be told.
    mutating func verdict(on index: Int) -> FileJudge.Verdict? {
        guard let number = file(index).facts?.ledgerEntry, let entry = inventory.ledger?.entries[number]
        else { return nil }
        if let known = verdicts[number] { return known }
        var verdict: FileJudge.Verdict?
        do {
            let support = try inventory.openFolder(of: .applicationSupport, in: fileSystem)
            if let judge = try support.flatMap(FileJudge.init),
                let area = try inventory.openFolder(of: entry.location.area, in: fileSystem)
            {
                verdict = try judge.verdict(on: entry, in: area)
            }
        } catch {
            note(error, at: inventory.path(of: file(index)))
        }
        verdicts[number] = .some(verdict)
        return verdict
    }

    /// Whether a file still exists where the walk found it.
    mutating func isStillThere(_ index: Int) -> Bool {
        let (file, fileSystem) = (file(index), fileSystem)
        return look(into: file.folder, for: inventory.path(of: file)) { folder throws(FileSystemError) in
            try fileSystem.attributes(of: FilePath(root: nil, [file.name]), in: folder.descriptor) != nil
        }
    }

    /// Whether a folder contains nothing but folders now. One that cannot be listed is not known to be empty.
    mutating func isStillWithoutFiles(_ number: Int) -> Bool {
        let fileSystem = fileSystem
        return look(into: number, for: inventory.path(ofFolder: number)) { folder throws(FileSystemError) in
            try fileSystem.entries(of: folder.descriptor).allSatisfy { $0.kind == .directory }
        }
    }

    private mutating func look(
        into number: Int, for path: FilePath, _ isThere: (Directory) throws(FileSystemError) -> Bool
    ) -> Bool {
        do {
            guard let folder = try reader.folder(number, of: inventory) else { return false }
            return try isThere(folder)
        } catch {
            if !error.isNotFound { note(error, at: path) }
            return false
        }
    }

    private mutating func note(_ error: FileSystemError, at path: FilePath) {
        let problem = FileInventory.Problem(path: path, reason: "\(error.operation): \(error.errno)")
        if !problems.contains(problem), !inventory.problems.contains(problem) { problems.append(problem) }
    }

    /// Reports files, a folder or something else as one finding.
    ///
    /// - Parameters:
    ///   - path: That of the folder or else of the file, unless it is another one.
    ///   - folder: What the finding is about, if it is a folder that the remedy can be applied to; for files, the one
    ///     that stands for all of them.
    ///   - remedy: That of the rule, unless it depends on the files.
    ///   - isFixable: Whether there is a remedy.
    ///   - isClaiming: Whether other rules do not report the files any more.
    mutating func report(
        _ indices: [Int], at path: FilePath? = nil, _ message: String, folder: Int? = nil,
        remedy: Remedy? = nil, isFixable: Bool = true, isClaiming: Bool = true
    ) {
        let length = indices.reduce(0) { $0 + file($1).countedLength }
        let path = path ?? folder.map(inventory.path(ofFolder:)) ?? inventory.path(of: file(indices[0]))
        findings.append(
            Finding(
                rule: rule, path: path, message: message, files: indices.count, length: length,
                remedy: isFixable ? remedy ?? rule.remedy : nil, members: indices, folder: folder))
        if isClaiming { claimed.formUnion(indices) }
    }

    /// Reports the files of each group as one finding, and those without a group individually.
    ///
    /// - Parameter groups: The folder that stands for the files of each; see ``FileInventory/outermostFolders(where:)``.
    mutating func report(
        _ indices: [Int], byFolder groups: [Int?], _ message: String, remedy: Remedy? = nil,
        isFixable: Bool = true, isClaiming: Bool = true
    ) {
        let members = Dictionary(grouping: indices) { groups[file($0).folder] }
        for index in members[nil] ?? [] {
            report([index], message, remedy: remedy, isFixable: isFixable, isClaiming: isClaiming)
        }
        for folder in members.keys.compactMap(\.self).sorted() {
            report(
                members[folder] ?? [], message, folder: folder, remedy: remedy, isFixable: isFixable,
                isClaiming: isClaiming)
        }
    }
}

/// A violation of a rule.
public struct Finding: Hashable, Sendable {
    /// The rule that is violated.
    public let rule: RuleInfo
    package let path: FilePath
    /// What is wrong with the files.
    public let message: String
    /// The number of files concerned.
    public let files: Int
    /// The bytes of these files.
    public let length: Int64
    /// What a script can do about it; `nil` if it has to be done by hand.
    package let remedy: Remedy?
    /// The files, by their indices in the inventory.
    let members: [Int]
    /// The folder that stands for the files, or that the finding is about.
    let folder: Int?

    /// The path of the file, or of the common folder of several files, as a container has it.
    public var relativePath: String { path.string }
}

extension Finding: CustomStringConvertible {
    /// What is wrong, and what to do about it, in one line.
    public var description: String {
        "\(rule.severity.rawValue): \(rule.name): \(relativePath): \(message). \(rule.fix)"
    }
}

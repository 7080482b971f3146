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
    /// Which entries of the manifest explain the files, if there is a manifest.
    let purposes: Purposes?
    private var reader: FileReader
    /// The rule that is being applied.
    private var rule = StorageRules.infos[0]
    private var findings: [Finding] = []
    private var problems: [FileInventory.Problem] = []
    private var claimed: Set<Int32> = []
    /// For each folder, the document that it is part of, such as `Novel.pages`, whose content is its own affair.
    let packages: [Int32?]
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
            guard let package = packages[Int(file.folder)] else { return FileType(file.name) }
            return inventory.folders[Int(package)].name.lastComponent.flatMap(FileType.init)
        }
        purposes = options.manifest.map { Purposes(of: inventory, by: $0) }
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
        let order = Severity.allCases
        let findings = order.flatMap { severity in
            checkup.findings.filter { $0.rule.severity == severity }
        }
        return (findings, checkup.problems)
    }

    /// The matching files that no rule has reported yet.
    func files(where isWanted: (InventoryFile) -> Bool) -> [Int32] {
        inventory.files.indices.lazy.map(Int32.init)
            .filter { !claimed.contains($0) && isWanted(file($0)) }
    }

    func file(_ index: Int32) -> InventoryFile { inventory.files[Int(index)] }
    func type(of index: Int32) -> FileType? { types[Int(index)] }
    func folder(of file: InventoryFile) -> InventoryFolder { inventory.folders[Int(file.folder)] }

    /// The paths of files in an order that does not depend on the walk: by area, Documents first, then by path.
    func pathsInOrder(of indices: [Int32]) -> [FilePath] {
        indices.map { (area: file($0).area?.rawValue ?? .max, path: inventory.path(of: file($0))) }
            .sorted { ($0.area, $0.path.string) < ($1.area, $1.path.string) }.map(\.path)
    }

    /// The first `count` bytes of a file, or `nil` if it cannot be read.
    mutating func beginning(of index: Int32, count: Int) -> [UInt8]? {
        look(at: index) { [fileSystem] in try fileSystem.bytes(of: $0, count: count) }
    }

    /// Opens a file to examine it. A file that cannot be read is recorded as a problem, and skipped by rules.
    mutating func look<Result>(at index: Int32, _ body: (Descriptor) throws -> Result) -> Result? {
        do {
            return try reader.withFile(index, of: inventory, body)
        } catch {
            // An invalid item, or a file that has since been replaced by something else, is not a read problem.
            if let error = FileSystemError(causing: error), !error.isNotRegularFile { note(error, at: index) }
            return nil
        }
    }

    /// Whether a file still exists where the walk found it.
    mutating func isStillThere(_ index: Int32) -> Bool {
        do {
            return try reader.isThere(index, of: inventory)
        } catch {
            note(error, at: index)
            return false
        }
    }

    /// Whether a folder contains nothing but folders now. One that cannot be listed is not known to be empty.
    mutating func isStillWithoutFiles(_ folder: Int32) -> Bool {
        do {
            let entries = try reader.entries(ofFolder: folder, of: inventory)
            return entries?.allSatisfy { $0.kind == .directory } ?? false
        } catch {
            if !error.isNotFound { note(error, at: inventory.path(ofFolder: folder)) }
            return false
        }
    }

    /// Whether the file of a ledger entry exists now: it may have been published after the walk. Returns `true` if this
    /// cannot be determined.
    func hasFile(_ entry: LedgerEntry, in area: FilePath) -> Bool {
        do {
            let path = entry.location.relative
            guard let name = path.lastComponent,
                let folder = try inventory.areaFolder(area, fileSystem)?.open(path.removingLastComponent())
            else { return false }
            return try fileSystem.attributes(of: FilePath(root: nil, [name]), in: folder.descriptor) != nil
        } catch {
            return !error.isNotFound
        }
    }

    private mutating func note(_ error: FileSystemError, at index: Int32) {
        note(error, at: inventory.path(of: file(index)))
    }

    private mutating func note(_ error: FileSystemError, at path: FilePath) {
        let problem = FileInventory.Problem(path: path, reason: "\(error.operation): \(error.errno)")
        if !problems.contains(problem), !inventory.problems.contains(problem) { problems.append(problem) }
    }

    /// - Parameter folder: What the finding is about, if it is a folder that the rule's remedy can be applied to.
    mutating func report(_ path: FilePath, _ message: String, folder: Int32? = nil) {
        report([], at: path, message, folder: folder, isFixable: folder != nil)
    }

    /// Reports one file.
    mutating func report(_ index: Int32, _ message: String) {
        report([index], at: inventory.path(of: file(index)), message)
    }

    /// Reports several files as one finding.
    ///
    /// - Parameters:
    ///   - folder: The folder that stands for all of them.
    ///   - remedy: That of the rule, unless it depends on the files.
    ///   - isFixable: Whether there is a remedy.
    ///   - isClaiming: Whether other rules do not report the files any more.
    mutating func report(
        _ indices: [Int32], at path: FilePath, _ message: String, folder: Int32? = nil, remedy: Remedy? = nil,
        isFixable: Bool = true, isClaiming: Bool = true
    ) {
        let length = indices.reduce(0) { $0 + file($1).countedLength }
        findings.append(
            Finding(
                rule: rule, path: path, message: message, files: indices.count, length: length,
                remedy: isFixable ? remedy ?? rule.remedy : nil, members: indices, folder: folder))
        if isClaiming { claimed.formUnion(indices) }
    }

    /// Reports the files of each group as one finding, and those without a group individually.
    ///
    /// - Parameters:
    ///   - groups: The folder that stands for the files of each folder; see ``outermostFolders(where:)``.
    ///   - remedy: That of the rule, unless it depends on the folder.
    mutating func report(
        _ indices: [Int32], byFolder groups: [Int32?], _ message: String, remedy: Remedy? = nil,
        isFixable: Bool = true
    ) {
        var members: [Int32: [Int32]] = [:]
        for index in indices {
            if let folder = groups[Int(file(index).folder)] {
                members[folder, default: []].append(index)
            } else {
                let path = inventory.path(of: file(index))
                report([index], at: path, message, remedy: remedy, isFixable: isFixable)
            }
        }
        for (folder, members) in members.sorted(by: { $0.key < $1.key }) {
            report(
                members, at: inventory.path(ofFolder: folder), message, folder: folder, remedy: remedy,
                isFixable: isFixable)
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
    public internal(set) var files = 0
    /// The bytes of these files.
    public internal(set) var length: Int64 = 0
    /// What a script can do about it; `nil` if it has to be done by hand.
    package var remedy: Remedy?
    /// The files, by their indices in the inventory.
    var members: [Int32] = []
    /// The folder that stands for the files, or that the finding is about.
    var folder: Int32?

    /// The path of the file, or of the common folder of several files, relative to the container or, for an
    /// application, to its area.
    public var relativePath: String { path.string }
}

extension Finding: CustomStringConvertible {
    /// What is wrong, and what to do about it, in one line.
    public var description: String {
        "\(rule.severity.rawValue): \(rule.name): \(relativePath): \(message). \(rule.fix)"
    }
}

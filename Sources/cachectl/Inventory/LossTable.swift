internal import PrefetchFileSystem
internal import StorageInventory

/// What becomes of each file in a purge, an offload or a restore.
struct LossTable {
    private typealias Sum = (files: Int, bytes: Int64)

    private let inventory: FileInventory
    private let loss: Loss
    private let tool: BackupTool
    /// By the index of the file.
    private let fates: [Fate]
    private let sums: [Fate: Sum]

    init(inventory: FileInventory, loss: Loss, tool: BackupTool, manifest: StorageManifest?) {
        self.inventory = inventory
        self.loss = loss
        self.tool = tool
        fates = inventory.files.map { file in
            inventory.fate(of: file, in: loss, manifest?.entry(for: inventory.containerPath(of: file)))
        }
        sums = zip(fates, inventory.files).reduce(into: [:]) { sums, next in
            let sum = sums[next.0] ?? (0, 0)
            sums[next.0] = (sum.files + 1, sum.bytes + next.1.countedLength)
        }
    }

    func print(to output: Output) throws {
        if output.isJSON {
            return try output.print(
                json: fates.indices.lazy.map { index in
                    inventory.files[index].json(in: inventory).adding(["fate": fates[index].rawValue])
                }, as: "files", behind: head)
        }
        try output.print(summary)
        let gone = inventory.files.indices.filter { fates[$0] != .stays }
        guard !gone.isEmpty else { return }
        // Each row is made twice: all of them together may not fit into memory.
        var table = TextTable([.left, .right, .left, .left, .left])
        let header = ["FATE", "LENGTH", "KIND", "KEY", "PATH"]
        table.measure(header)
        for index in gone { table.measure(row(of: index)) }
        try output.print("")
        try output.print(table.line(of: header))
        for fate in Fate.allCases {
            for index in gone where fates[index] == fate { try output.print(table.line(of: row(of: index))) }
        }
    }

    private var head: JSONObject {
        let sums: [JSONObject] = Fate.allCases.compactMap { fate in
            self.sums[fate].map { ["fate": fate.rawValue, "files": $0.files, "bytes": $0.bytes] }
        }
        return [
            "event": loss.rawValue, "backupTool": loss == .restore ? tool.rawValue : nil, "sums": sums,
            "problems": inventory.problems.map(\.json),
        ]
    }

    private var summary: [String] {
        var table = TextTable([.left, .right, .right, .left])
        table.add(["FATE", "FILES", "LENGTH", "MEANING"])
        for fate in Fate.allCases {
            guard let sum = sums[fate] else { continue }
            table.add([fate.rawValue, "\(sum.files)", Size.text(sum.bytes), meaning(of: fate)])
        }
        return table.lines
    }

    private func meaning(of fate: Fate) -> String {
        switch fate {
        case .stays where loss == .restore: "in the backup"
        case .stays: "the system does not delete it"
        case .uploaded: "comes back from iCloud Drive"
        case .missed: "a cached item: a miss, downloaded again when it is wanted"
        case .rehydrated: "'cachectl fetch --missing' downloads it again"
        case .downloaded: "the app has to download it again"
        case .remade: "made again when it is needed"
        case .unknown: "neither the cache nor a manifest knows whether it can be had again"
        case .lost: "cannot be had again"
        }
    }

    private func row(of index: Int) -> [String] {
        let file = inventory.files[index]
        return [
            fates[index].rawValue, Size.text(file.length), file.kind.rawValue, file.facts?.key ?? "-",
            inventory.path(of: file).displayText,
        ]
    }
}

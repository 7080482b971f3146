import Foundation
import PrefetchFileSystem
import SystemPackage

@testable import PrefetchCaching

/// Recovers a container in which a promotion was cut short, as the next process would, and says what is not
/// as promised.
struct PromotionJudge {
    let plan: PromotionPlan
    let container: TemporaryContainer
    let foreign: [ForeignFile]
    /// What was reported as opened, before the end.
    let reported: [ItemKey: String]
    /// Whether the machine went down: then the catalog is not trusted, and cached items may be gone.
    let wasPowerCut: Bool
    /// Whether everything lies on one volume. What a decoding left in the staging folder of another one is
    /// not looked for.
    var isOneVolume = true

    func faults() -> [PromotionFault] {
        var faults: [PromotionFault] = []
        do {
            let engine = try container.engine(boot: wasPowerCut ? "boot-2" : "boot-1")
            faults += try leftovers(engine)
            for item in plan.items { faults += judge(item, engine) }
            faults += try judgeDestinations(engine)
            for file in foreign where try !file.isUntouched {
                faults.append(fault(.foreignTouched, "\(file.url.path)"))
            }
            try engine.close()
        } catch {
            faults.append(fault(.failed, "\(error)"))
        }
        return faults
    }

    private func fault(_ kind: PromotionFault.Kind, _ text: String) -> PromotionFault {
        PromotionFault(kind: kind, description: "\(kind.rawValue): \(text)")
    }

    private func leftovers(_ engine: Engine) throws -> [PromotionFault] {
        guard isOneVolume, try !container.staged().isEmpty else { return [] }
        // Recovery passes by a lock that is held. One of this process is, for a moment, by every process that
        // other tests start meanwhile.
        for item in plan.items { try engine.promoter.locks.hold(item.key.hash) {} }
        engine.promoter.recovery.run(RepairLog(), isThorough: false)
        return try container.staged().map { fault(.leftover, $0) }
    }

    private func judge(_ item: PlannedItem, _ engine: Engine) -> [PromotionFault] {
        do {
            if let path = reported[item.key] { return try judge(item, reportedAt: path, engine) }
            return try judgeUnreported(item, engine)
        } catch CacheError.movedOrDeleted(_, let path) {
            return [fault(.lost, "committed and not there: \(path)")]
        } catch {
            return [fault(.failed, "\(item.key): \(error)")]
        }
    }

    private func judge(_ item: PlannedItem, reportedAt path: String, _ engine: Engine) throws
        -> [PromotionFault]
    {
        guard FileManager.default.fileExists(atPath: path) else {
            return [fault(.lost, "opened and not there: \(path)")]
        }
        guard try item.isWhole(at: URL(filePath: path)) else {
            return [fault(.partial, "opened and not whole: \(path)")]
        }
        guard let opened = try engine.open(item.key).value else {
            return [fault(.lost, "opened and no longer known: \(item.key)")]
        }
        guard opened.path.string == path, !opened.isFirstOpen else {
            return [fault(.duplicated, "\(path) handed over once more, as \(opened.path)")]
        }
        return []
    }

    private func judgeUnreported(_ item: PlannedItem, _ engine: Engine) throws -> [PromotionFault] {
        let mustBeThere = item.cached != nil && !wasPowerCut
        // Of a promotion that has all but its commit, reads know only after the next open.
        if let content = try engine.content(item.key), content != item.content {
            return [fault(.wrong, "read: \(item.key)")]
        }
        guard let opened = try engine.open(item.key).value else {
            return mustBeThere ? [fault(.lost, "not opened afterwards: \(item.key)")] : []
        }
        guard try item.isWhole(at: opened.url) else {
            return [fault(.partial, "opened afterwards and not whole: \(opened.path)")]
        }
        return []
    }

    /// What lies under a destination name is a foreign file or the one file of an opened item.
    private func judgeDestinations(_ engine: Engine) throws -> [PromotionFault] {
        var expected = Set(foreign.map(\.url.path))
        var faults: [PromotionFault] = []
        for item in plan.items {
            let entry = try engine.ledger.entry(for: item.key)
            guard let entry, entry.state == .committed else { continue }
            let path = engine.destinations.path(of: entry).string
            let isAdopted = item.name == .identical && path == container.destination(of: item).path
            if !isAdopted, !expected.insert(path).inserted {
                faults.append(fault(.foreignTouched, "\(path) is not the file of \(item.key)"))
            }
            if item.name == .identical, !isAdopted {
                faults.append(fault(.duplicated, "\(path) beside a file with the same content"))
            }
        }
        for area in [Area.documents, .applicationSupport] {
            let folder = container.destinations(in: area)
            guard folder.exists else { continue }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let file = folder.appending(path: name)
                guard !expected.contains(file.path), !name.hasPrefix(".") else { continue }
                let isFolder = try file.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
                let isWhole = try plan.items.contains { item in
                    try item.isBundle == isFolder && item.isWhole(at: file)
                }
                faults.append(fault(isWhole ? .duplicated : .partial, "nobody's file \(file.path)"))
            }
        }
        return faults
    }
}

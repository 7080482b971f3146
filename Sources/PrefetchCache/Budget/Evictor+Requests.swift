internal import GRDB
internal import ItemFormat

/// Evicting what a caller selects, rather than what makes room.
extension Evictor {
    /// Evicts what a request selects, in the order of eviction. Leased files stay.
    ///
    /// - Returns: The evicted files.
    func evict(_ request: EvictionRequest, from database: Database) throws -> [EvictedFile] {
        let wanted = try wantedBytes(request, database)
        guard wanted > 0 else { return [] }
        var tally = Tally(.charge)
        var evicted: [EvictedFile] = []
        try forEachCandidate(request, database) { victim in
            guard tally.freed < wanted else { return .enough }
            guard try evict(victim, &tally, from: database) else { return .stays }
            evicted.append(EvictedFile(victim))
            return .gone
        }
        try tally.write(to: database)
        return evicted
    }

    /// Returns what ``evict(_:from:)`` would evict now. Changes nothing.
    func preview(_ request: EvictionRequest, in database: Database) throws -> [EvictedFile] {
        let wanted = try wantedBytes(request, database)
        guard wanted > 0 else { return [] }
        var freed: Int64 = 0
        var files: [EvictedFile] = []
        // A policy changes its state while it chooses, which is right only if the victims are removed.
        try database.inSavepoint {
            try forEachCandidate(request, database) { victim in
                guard freed < wanted else { return .enough }
                if try isRemovable(victim) {
                    files.append(EvictedFile(victim))
                    freed += victim.chargedLength
                }
                return .stays
            }
            return .rollback
        }
        return files
    }

    private enum Fate {
        case gone, stays, enough
    }

    /// Whether a victim could be removed now. A file that is gone already would only lose its row.
    private func isRemovable(_ victim: Victim) throws -> Bool {
        switch try self.files.claim(victim) {
        case .gone, .leased: return false
        case .claimed(let claim):
            files.release(claim)
            return true
        }
    }

    private func wantedBytes(_ request: EvictionRequest, _ database: Database) throws -> Int64 {
        switch request.amount {
        case .all: return .max
        case .atLeast(let count): return count.bytes
        case .downTo(let count):
            let charged =
                if let source = request.source {
                    try Int64.fetchOne(
                        database,
                        sql: "SELECT SUM(chargedLength) FROM item WHERE kind = 0 AND source = ?",
                        arguments: [source]) ?? 0
                } else {
                    try Admission.itemBytes(database)
                }
            return max(0, charged - count.bytes)
        }
    }

    private func forEachCandidate(
        _ request: EvictionRequest, _ database: Database, _ body: (Victim) throws -> Fate
    ) throws {
        guard request.isGeneral else {
            for victim in try Victim.chosen(by: request, in: database) {
                if case .enough = try body(victim) { return }
            }
            return
        }
        var expired: Set<KeyHash> = []
        for victim in try Victim.expired(at: environment.now(), atMost: .max, passingOver: 0, in: database) {
            if case .enough = try body(victim) { return }
            expired.insert(victim.hash)
        }
        let policy = policy
        var passedOver: Set<KeyHash> = []
        while true {
            let victims = try policy.victims(atMost: 64, passingOver: passedOver, in: database)
            guard !victims.isEmpty else { return }
            for victim in victims {
                guard !expired.contains(victim.hash) else {
                    passedOver.insert(victim.hash)
                    continue
                }
                switch try body(victim) {
                case .gone: break
                case .stays: passedOver.insert(victim.hash)
                case .enough: return
                }
            }
        }
    }
}

extension EvictedFile {
    init(_ victim: Victim) {
        let kind: Kind =
            switch victim.kind {
            case .item, .newerFormat: .item
            case .partial, .newerPartial: .partial
            case .quarantined: .quarantined
            }
        self.init(kind: kind, key: victim.itemKey, chargedLength: victim.chargedLength)
    }
}

extension Engine {
    /// Evicts what a request selects.
    ///
    /// - Parameter isDryRun: If `true`, only reports what would be evicted.
    func evict(_ request: EvictionRequest, isDryRun: Bool) throws(CacheError) -> [EvictedFile] {
        defer { evictor.report() }
        return try evicting(orNothing: []) { () throws(CacheError) in
            try catalog.transaction(makingRoom: !isDryRun) { database in
                isDryRun
                    ? try evictor.preview(request, in: database)
                    : try evictor.evict(request, from: database)
            }
        }
    }
}

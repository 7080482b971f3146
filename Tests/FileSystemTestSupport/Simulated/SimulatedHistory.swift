/// All that a disk went through, change by change, and what its user was told on the way.
package struct SimulatedHistory: Sendable {
    /// The disk between two operations.
    package struct Moment: Sendable {
        /// The operation before it; the first moment has none.
        package let operation: String
        /// What is on the disk whatever happens …
        let durable: SimulatedDisk
        /// … and what may be, or not.
        let pending: [SimulatedChange]
        /// How many notes had been taken.
        package let notes: Int
    }

    package internal(set) var moments: [Moment] = []
    package internal(set) var notes: [String] = []
}

extension SimulatedHistory.Moment {
    /// The disks when power goes and nothing survives that was not flushed: several if folders have two names.
    package var leastDisks: [SimulatedDisk] { durable.checked }

    /// The disks that the loss of power may leave: every choice of the changes that were not flushed
    /// when there are at most `limit` of them, else the two extremes and seeded ones, `limit` in all.
    package func disks(limit: Int, using random: inout some RandomNumberGenerator) -> [SimulatedDisk] {
        uncheckedDisks(limit: limit, using: &random).flatMap(\.checked)
    }

    private func uncheckedDisks(limit: Int, using random: inout some RandomNumberGenerator)
        -> [SimulatedDisk]
    {
        let count = pending.count
        if count < Int.bitWidth - 1, 1 << count <= limit {
            return (0..<(1 << count)).map { choice in disk { choice & (1 << $0) != 0 } }
        }
        var disks = [disk { _ in false }, disk { _ in true }]
        while disks.count < limit {
            // Few losses and many, not only halves.
            let share = Double.random(in: 0...1, using: &random)
            let choice = (0..<count).map { _ in Double.random(in: 0..<1, using: &random) < share }
            disks.append(disk { choice[$0] })
        }
        return disks
    }

    private func disk(where isKept: (Int) -> Bool) -> SimulatedDisk {
        var disk = durable
        var areRecordsKept = true
        for (index, change) in pending.enumerated() {
            if case .records = change {
                // A commit that survives brings those before it along.
                areRecordsKept = areRecordsKept && isKept(index)
                if areRecordsKept { disk.apply(change) }
            } else if isKept(index) {
                disk.apply(change)
            }
        }
        return disk
    }
}

extension SimulatedDisk {
    /// What a check of the volume makes of it: a folder that has two names loses one of them, either one.
    fileprivate var checked: [SimulatedDisk] {
        let doubled = foldersWithTwoNames
        if doubled.isEmpty { return [self] }
        return [true, false].map { keepsFirst in
            var disk = self
            for names in doubled {
                for (folder, name) in keepsFirst ? names.dropFirst() : names.dropLast() {
                    disk.nodes[folder]?.entries[name] = nil
                }
            }
            return disk
        }
    }
}

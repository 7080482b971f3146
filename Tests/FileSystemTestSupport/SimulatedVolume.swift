package import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

/// The space of a volume that only exists in a test: how much there is, who may use it, and when the space of
/// removed files comes back. A ``SimulatedFileSystem`` or an ``InterceptingFileSystem`` keeps it up to date.
package final class SimulatedVolume: Sendable {
    /// When the space of a removed file is free again.
    package enum Freeing: Sendable, Hashable {
        case atOnce
        /// When the volume is synchronised, when somebody would otherwise find it full, or after as many
        /// other calls: as on XFS and btrfs.
        case lazily(calls: Int)
        /// Never: there is a snapshot, or another link.
        case never
    }

    private struct State: Sendable {
        var available: Int64
        var used: Int64 = 0
        /// Bytes of removed files that are not free yet.
        var withheld: Int64 = 0
        var callsLeft = 0
        var quota: Int64?
    }

    private let total: Int64
    private let blockSize: Int64
    private let freeing: Freeing
    private let state: Mutex<State>

    /// - Parameters:
    ///   - available: The bytes that are free at first.
    package init(
        total: Int64, available: Int64, blockSize: Int64 = 4096, freeing: Freeing = .atOnce
    ) {
        self.total = total
        self.blockSize = blockSize
        self.freeing = freeing
        state = Mutex(State(available: available))
    }

    package var figures: VolumeFigures {
        state.withLock { VolumeFigures(total: total, available: $0.available, blockSize: blockSize) }
    }

    /// Bytes of the files that there are.
    package var used: Int64 { state.withLock { $0.used } }

    /// Somebody else takes bytes, or gives them back.
    package func takeForOthers(_ bytes: Int64) {
        state.withLock { $0.available -= bytes }
    }

    /// Limits what this user's files may take. Nothing shows it but `EDQUOT`.
    package func limit(to quota: Int64?) {
        state.withLock { $0.quota = quota }
    }

    /// A file's length changes.
    ///
    /// - Throws: `ENOSPC` or `EDQUOT`, when it grows.
    func change(from length: Int64, to newLength: Int64, _ call: String) throws(FileSystemError) {
        let bytes = blocks(newLength) - blocks(length)
        try state.withLock { state throws(FileSystemError) in
            guard bytes > 0 else { return give(-bytes, &state) }
            if state.available < bytes { release(&state) }
            guard state.available >= bytes else { throw FileSystemError(call, errno: .noSpace) }
            if let quota = state.quota, state.used + bytes > quota {
                throw FileSystemError(call, errno: .diskQuotaExceeded)
            }
            state.available -= bytes
            state.used += bytes
        }
    }

    func synchronize() {
        state.withLock { release(&$0) }
    }

    /// A call of any kind was made.
    func noteCall() {
        guard case .lazily = freeing else { return }
        state.withLock { state in
            guard state.withheld > 0 else { return }
            state.callsLeft -= 1
            if state.callsLeft <= 0 { release(&state) }
        }
    }

    private func give(_ bytes: Int64, _ state: inout State) {
        state.used -= bytes
        switch freeing {
        case .atOnce: state.available += bytes
        case .lazily(let calls):
            state.withheld += bytes
            state.callsLeft = calls
        case .never: state.withheld += bytes
        }
    }

    private func release(_ state: inout State) {
        guard freeing != .never else { return }
        state.available += state.withheld
        state.withheld = 0
    }

    private func blocks(_ length: Int64) -> Int64 {
        (length + blockSize - 1) / blockSize * blockSize
    }
}

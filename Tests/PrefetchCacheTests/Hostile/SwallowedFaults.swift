import FileSystemTestSupport

@testable import PrefetchCaching

extension AttackedWork {
    /// Steps that went as if nothing had failed, where something must have.
    ///
    /// - Parameters:
    ///   - isSticky: Whether every call failed since the first that did.
    ///   - isOutOfSpace: Whether it failed for want of room: then others are evicted, and what failed once is done again.
    func swallowedFaults(isSticky: Bool, isOutOfSpace: Bool) -> [String] {
        steps.filter { step in
            if isSticky, step.swallowsLaterFaults { return true }
            return (isSticky || !isOutOfSpace) && step.swallowsFault
        }.map { step in
            let call = step.failedBefore ?? step.failedWithin
            return "\(step.name): \(step.outcome), although \(call.map { "\($0)" } ?? "?") failed"
        }
    }
}

extension AttackedWork.Step {
    /// Whether all went well although calls had begun to fail before.
    fileprivate var swallowsLaterFaults: Bool {
        guard failedBefore != nil else { return false }
        switch kind {
        // No such step can do without a call that fails now.
        case .storing, .promoting: return outcome == .done || outcome == .missed && isCached
        // The item may be readable, and if not, that is no miss.
        case .reading: return outcome == .missed && isCached
        case .other: return false
        }
    }

    /// Whether all went well although a call in the middle of it failed.
    fileprivate var swallowsFault: Bool {
        guard failedBefore == nil, let call = failedWithin, kind == .storing || kind == .promoting else {
            return false
        }
        // Where several items cannot be handed over together for want of room or of descriptors, each is tried alone.
        guard !name.hasPrefix("open several") else { return false }
        return call.isOfContent && (outcome == .done || outcome == .missed && isCached)
    }
}

extension Operation {
    /// Whether nothing can be stored or handed over without it. In a lock file stands only how much a process may hold; the
    /// record's log is made longer ahead of need, and what is written to it is SQLite's own.
    fileprivate var isOfContent: Bool {
        [.write, .resize, .synchronize].contains(kind) && !name.hasSuffix(".lock")
            && name != CacheLayout.recordLog
    }
}

import Foundation
import Synchronization

/// Holds the threads of a server up until the test opens it.
public final class Gate: Sendable {
    private let condition = NSCondition()
    private let opened = Atomic<Bool>(false)

    public init() {}

    public func wait() {
        condition.lock()
        defer { condition.unlock() }
        while !opened.load(ordering: .acquiring) { condition.wait() }
    }

    public func open() {
        condition.lock()
        defer { condition.unlock() }
        opened.store(true, ordering: .releasing)
        condition.broadcast()
    }
}

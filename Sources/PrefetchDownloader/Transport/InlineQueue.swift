#if canImport(FoundationNetworking)
    internal import Foundation

    /// Runs what is added to it at once, on the thread that adds it.
    ///
    /// This is what holds a server up. The `URLSession` of swift-corelibs-foundation adds every piece that libcurl has
    /// read to its delegate's queue and reads on, however long the queue is: 1 GiB for a sink that takes 160 MB/s grew
    /// the process by 560 MB. Its `suspend()` closes the connection, and the decision about an answer (`allow` or
    /// `cancel`) is not waited for. With this queue the delegate is called where libcurl hands its bytes over, so that a
    /// delegate that waits keeps libcurl from reading, and TCP tells the server.
    ///
    /// - Important: That is the work queue of the session, and the sessions of a process share one: while a delegate
    ///   waits, no session of the process does anything. It waits for the disk only, which they all would have to wait
    ///   for, and nothing that it waits for may wait for a session.
    final class InlineQueue: OperationQueue, @unchecked Sendable {
        // Unchecked because the superclass is; there is no state of its own.

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif

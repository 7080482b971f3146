#if canImport(FoundationNetworking)
    internal import Foundation

    /// Runs operations at once, on the thread that adds them.
    ///
    /// This is what holds a server up. The `URLSession` of swift-corelibs-foundation adds every piece that
    /// libcurl has read to its delegate's queue and reads on, however long the queue is: 1 GiB for a sink
    /// that takes 160 MB/s grew the process by 560 MB. Its `suspend()` closes the connection, and it does not
    /// wait for the decision about a response (`allow` or `cancel`). With this queue the delegate is called
    /// where libcurl hands its bytes over, so that a waiting delegate keeps libcurl from reading, and TCP
    /// slows the server down.
    ///
    /// - Important: That thread is the work queue of the session, which all sessions of a process share:
    ///   while a delegate waits, no session of the process makes progress. The delegate waits for the disk
    ///   only, which they would all have to wait for, and nothing that it waits for may wait for a session.
    final class InlineQueue: OperationQueue, @unchecked Sendable {
        // Unchecked because the superclass is; there is no further state.

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif

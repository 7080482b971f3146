#if canImport(FoundationNetworking)
    internal import Foundation

    /// Runs what is added to it at once, on the thread that adds it.
    ///
    /// This is what holds a server up. The `URLSession` of swift-corelibs-foundation adds every piece that libcurl
    /// has read to its delegate's queue and reads on, however long the queue is: 1 GiB for a sink that takes
    /// 160 MB/s grew the process by 560 MB. Its `suspend()` closes the connection, and the decision about an answer
    /// (`allow` or `cancel`) is not waited for. With this queue the delegate is called where libcurl hands its
    /// bytes over, on the session's own dispatch queue, so that a delegate that waits keeps libcurl from reading,
    /// and TCP tells the server.
    ///
    /// - Important: A session whose delegate waits does nothing else meanwhile: it is for one transfer at a time.
    final class InlineQueue: OperationQueue, @unchecked Sendable {
        // Unchecked because the superclass is; there is no state of its own.

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif

internal import CPrefetchPlatform

#if canImport(Darwin)
    package import Synchronization
#else
    internal import Glibc
#endif

/// Starts a thread that runs `body` and ends with it (`pthread_create`). Unlike those of Foundation and Dispatch, which wait
/// until the system grants them a thread, it tells when there is none.
///
/// - Parameter name: At most 15 bytes are shown.
/// - Returns: `false` at a limit of processes or of memory; `body` is not run then.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let body = Unmanaged.passRetained(ThreadBody(run: body))
    let error = cplatform_start_thread(
        name,
        { body in
            if let body { Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run() }
        }, body.toOpaque())
    if error != 0 { body.release() }
    return error == 0
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

/// A mutex for what concurrent calls share: whoever comes first takes it, though others have waited for longer.
///
/// On Linux, a `Mutex` that was waited for is handed to the thread that has waited for longest (`FUTEX_LOCK_PI`), and is
/// held while that is woken. Once more threads than there are processors meet at one, each waits for a wake-up in every call:
/// eight tasks that read on two processors took three times as long. That of Apple's platforms is unfair already.
#if canImport(Darwin)
    package typealias UnfairMutex<Value> = Mutex<Value>
#else
    // Unchecked: the value is used under the lock alone.
    package final class UnfairMutex<Value>: @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        // Not a property: the thread sanitizer takes the address of one without bytes for that of the object.
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

        package init(_ value: sending Value) {
            self.value.initialize(to: value)
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            // Spins for a moment before it waits.
            pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
            // Neither can fail: they set fields.
            pthread_mutex_init(lock, &attributes)
            pthread_mutexattr_destroy(&attributes)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        package func withLock<Result, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
#endif

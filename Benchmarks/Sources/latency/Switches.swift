import Foundation

/// How often the scheduler took the core from this thread, and how often it gave it up to wait.
///
/// A slow call that neither waited nor was preempted was interrupted, or is slow of itself. `nil` where
/// the system does not count that per thread.
struct Switches {
    private let thread: pthread_t
    private let waits: Int
    private let preemptions: Int

    init?() {
        #if os(Linux)
            var usage = rusage()
            // RUSAGE_THREAD, which Glibc's overlay lacks.
            guard getrusage(1, &usage) == 0 else { return nil }
            thread = pthread_self()
            waits = usage.ru_nvcsw
            preemptions = usage.ru_nivcsw
        #else
            return nil
        #endif
    }

    func hasWaited(since start: Switches) -> Bool { thread == start.thread && waits > start.waits }

    func wasPreempted(since start: Switches) -> Bool {
        thread == start.thread && preemptions > start.preemptions
    }
}

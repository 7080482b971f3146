internal import PrefetchCaching

#if !canImport(Darwin)
    internal import CPrefetchPlatform
#endif

/// The thread that the process begins with: the one on which timers are served.
///
/// On Linux all tasks run on threads of a ``BlockingExecutor`` or, where the system starts none, on this one: at the limit of
/// processes, Dispatch waits for a thread for ever.
enum MainThread {
    private static let executor = BlockingExecutor()

    static func run() -> Never {
        #if !canImport(Darwin)
            cplatform_run_jobs { job in
                guard let job else { return }
                // As the runtime hands it over: a pointer, which is the only field of the type.
                MainThread.executor.enqueue(ExecutorJob(unsafeBitCast(job, to: UnownedJob.self)))
            }
        #endif
        Timers.shared.serve {
            Task.detached { await Invocation(arguments: ArgumentBytes.ofProcess).run().exit() }
        }
    }
}

// Apart, since what belongs to the entry point is of the main actor, which would wait for this very thread.
@main
enum Program {
    static func main() {
        StandardStreams.prepare()
        MainThread.run()
    }
}

#if !canImport(Darwin)
    internal import CPrefetchPlatform
#endif

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Starts a thread that runs `body` and ends with it (`pthread_create`). Unlike those of Foundation and Dispatch, which wait
/// until the system grants them a thread, it tells when there is none.
///
/// - Parameter name: At most 15 bytes are shown.
/// - Returns: `false` at a limit of processes or of memory; `body` is not run then.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let start = Unmanaged.passRetained(ThreadStart(name, body))
    #if canImport(Darwin)
        var thread: pthread_t?
        let error = pthread_create(
            &thread, nil,
            { start in
                Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().run()
                return nil
            }, start.toOpaque())
    #else
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { start in
                if let start { Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().run() }
                return nil
            }, start.toOpaque())
    #endif
    guard error == 0 else {
        start.release()
        return false
    }
    #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
    #else
        pthread_detach(thread)
    #endif
    return true
}

private final class ThreadStart: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        self.name = String(name.prefix(15))
        self.body = body
    }

    func run() {
        #if canImport(Darwin)
            pthread_setname_np(name)
        #else
            cplatform_name_thread(name)
        #endif
        body()
    }
}

package import Foundation

#if os(macOS)
    package typealias ChildProcess = Process
#else
    internal import Synchronization

    #if os(Linux)
        internal import Glibc
    #else
        internal import Darwin
    #endif

    /// What tests need of Foundation's `Process`, which on Linux copies the entries of `/proc/self/fd` as whole `dirent`s:
    /// where more than some 1,300 files are open, as in tests that run in parallel, it reads past the end of the buffer.
    ///
    /// Apple's other platforms have none, and let no app start processes: ``run()`` throws there.
    package final class ChildProcess: Sendable {
        package typealias Stream = AnyObject & Sendable
        package enum TerminationReason: Sendable { case exit, uncaughtSignal }

        private struct State: Sendable {
            var executable: URL?
            var arguments: [String] = []
            var environment: [String: String]?
            var folder: URL?
            /// Standard input, output and error: a `FileHandle`, a `Pipe`, or this process's own.
            var streams: [(any Stream)?] = [nil, nil, nil]
            var handler: (@Sendable (ChildProcess) -> Void)?
            var identifier: pid_t = 0
            var status: CInt?
        }

        package struct Failure: Error {
            let executable: String?
            let code: CInt
        }

        private let state = Mutex(State())
        private let ended = DispatchGroup()

        package init() {}

        package var executableURL: URL? {
            get { state.withLock(\.executable) }
            set { state.withLock { $0.executable = newValue } }
        }
        package var arguments: [String] {
            get { state.withLock(\.arguments) }
            set { state.withLock { $0.arguments = newValue } }
        }
        /// `nil` for this process's own.
        package var environment: [String: String]? {
            get { state.withLock(\.environment) }
            set { state.withLock { $0.environment = newValue } }
        }
        package var currentDirectoryURL: URL? {
            get { state.withLock(\.folder) }
            set { state.withLock { $0.folder = newValue } }
        }
        package var standardInput: (any Stream)? {
            get { state.withLock { $0.streams[0] } }
            set { state.withLock { $0.streams[0] = newValue } }
        }
        package var standardOutput: (any Stream)? {
            get { state.withLock { $0.streams[1] } }
            set { state.withLock { $0.streams[1] = newValue } }
        }
        package var standardError: (any Stream)? {
            get { state.withLock { $0.streams[2] } }
            set { state.withLock { $0.streams[2] = newValue } }
        }
        /// Called on another thread.
        package var terminationHandler: (@Sendable (ChildProcess) -> Void)? {
            get { state.withLock(\.handler) }
            set { state.withLock { $0.handler = newValue } }
        }

        package var processIdentifier: pid_t { state.withLock(\.identifier) }
        package var isRunning: Bool { state.withLock { $0.identifier != 0 && $0.status == nil } }

        private var waitStatus: CInt {
            guard let status = state.withLock(\.status) else { preconditionFailure("it has not ended") }
            return status
        }
        package var terminationReason: TerminationReason {
            waitStatus & 0x7F == 0 ? .exit : .uncaughtSignal
        }
        /// The exit code, or the number of the signal.
        package var terminationStatus: CInt {
            waitStatus & 0x7F == 0 ? waitStatus >> 8 & 0xFF : waitStatus & 0x7F
        }

        package func waitUntilExit() { ended.wait() }

        package func run() throws {
            let state = state.withLock { $0 }
            guard let executable = state.executable?.path else {
                throw Failure(executable: nil, code: ENOENT)
            }
            #if os(Linux)
                try spawn(executable, state)
            #else
                throw Failure(executable: executable, code: ENOTSUP)
            #endif
        }
    }
#endif

#if os(Linux)
    extension ChildProcess {
        private func spawn(_ executable: String, _ state: State) throws {
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            for (number, stream) in zip(CInt(0)..., state.streams) {
                guard let stream else { continue }
                if stream === FileHandle.nullDevice {
                    posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
                } else if let handle = Self.childHandle(of: stream, number) {
                    posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, number)
                }
            }
            _ = addCloseFrom(&actions, 3)
            if let folder = state.folder { _ = addChangeDirectory(&actions, folder.path) }

            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            // Signals that are typed at a terminal are not for it, and none is blocked, as some are on a worker thread.
            var none = sigset_t()
            sigemptyset(&none)
            posix_spawnattr_setsigmask(&attributes, &none)
            posix_spawnattr_setflags(&attributes, CShort(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))

            let environment = state.environment ?? ProcessInfo.processInfo.environment
            var arguments = ([executable] + state.arguments).map { strdup($0) } + [nil]
            var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
            defer { for text in arguments + variables { free(text) } }
            var spawned: pid_t = 0
            let code = posix_spawn(&spawned, executable, &actions, &attributes, &arguments, &variables)
            guard code == 0 else { throw Failure(executable: executable, code: code) }
            let identifier = spawned
            self.state.withLock { $0.identifier = identifier }
            var closed: Set<ObjectIdentifier> = []
            for (number, stream) in zip(CInt(0)..., state.streams) {
                guard let pipe = stream as? Pipe, closed.insert(ObjectIdentifier(pipe)).inserted else {
                    continue
                }
                try Self.childHandle(of: pipe, number)?.close()
            }
            ended.enter()
            Thread.detachNewThread { self.awaitEnd(of: identifier) }
        }

        private func awaitEnd(of identifier: pid_t) {
            var status: CInt = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let handler = state.withLock { state in
                state.status = status
                return state.handler
            }
            ended.leave()
            handler?(self)
        }

        private static func childHandle(of stream: any Stream, _ number: CInt) -> FileHandle? {
            guard let pipe = stream as? Pipe else { return stream as? FileHandle }
            return number == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting
        }
    }

    // Behind `_GNU_SOURCE`, which the overlay does not define.
    @_silgen_name("posix_spawn_file_actions_addclosefrom_np")
    private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: CInt)
        -> CInt
    @_silgen_name("posix_spawn_file_actions_addchdir_np")
    private func addChangeDirectory(
        _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ path: UnsafePointer<CChar>
    ) -> CInt
#endif

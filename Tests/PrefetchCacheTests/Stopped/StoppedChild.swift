#if os(Linux)
    import Dispatch
    import FileSystemTestSupport
    import Foundation
    import SystemPackage

    @testable import PrefetchCaching

    /// A process that works on a container and stops itself in the middle: a run of `testprograms promote`.
    final class StoppedChild: Sendable {
        /// What it does: everything that takes a lock.
        private static let steps = [
            "store=new", "open=text", "open=noise", "deliver=delivered", "configure", "evict", "close",
        ]

        private let process: ChildProcess
        private let ended = DispatchSemaphore(value: 0)

        /// Returns when it has stopped.
        ///
        /// - Parameter call: The number of the call of the system before which it stops.
        /// - Throws: ``NeverStopped`` when it came to its end before.
        init(at call: Int, in container: TemporaryContainer) throws {
            process = ChildProcess()
            process.executableURL = try BuiltProduct.named("testprograms")
            process.arguments = try ["promote"] + Self.arguments(stoppingAt: call, in: container)
            process.standardOutput = FileHandle.nullDevice
            let ended = ended
            process.terminationHandler = { _ in ended.signal() }
            try process.run()
            while try state() != "T" {
                guard process.isRunning else { throw NeverStopped() }
                sched_yield()
            }
        }

        struct NeverStopped: Error {}

        var number: Int32 { process.processIdentifier }

        /// Ends it as `kill -9` does, and returns when it is gone.
        func kill() {
            _ = Foundation.kill(process.processIdentifier, SIGKILL)
            ended.wait()
        }

        private func state() throws -> Character? {
            do {
                let text = try String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
                return text.split(separator: ") ").last?.first
            } catch {
                // It has ended.
                return nil
            }
        }

        /// How many calls of the system it makes when nothing stops it.
        static func calls(in container: TemporaryContainer) throws -> Int? {
            try PromotingProcess(
                Array(arguments(stoppingAt: 0, in: container).dropFirst(2)), in: container
            ).finished?.points
        }

        private static func arguments(stoppingAt call: Int, in container: TemporaryContainer) throws
            -> [String]
        {
            let file = container.root.appending(path: "delivered")
            try prose(50_000).write(to: file)
            return ["--container", container.root.path, "--stop", "\(call)"]
                + steps.map { $0.hasPrefix("deliver") ? "\($0)=\(file.path)" : $0 }
        }
    }
#endif

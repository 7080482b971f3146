#if os(Linux)
    import FileSystemTestSupport
    import Foundation

    @testable import PrefetchCaching

    /// A process that works on a container and stops itself in the middle.
    enum StoppedChild {
        /// What it does: everything that takes a lock.
        private static let steps = [
            "store=new", "open=text", "open=noise", "deliver=delivered", "configure", "evict", "close",
        ]

        struct NeverStopped: Error {}

        /// Returns when it has stopped.
        ///
        /// - Parameter call: The number of the call of the system before which it stops.
        /// - Throws: ``NeverStopped`` when it came to its end before.
        static func start(at call: Int, in container: TemporaryContainer) throws -> StressProcess {
            let process = try StressProcess(
                ["promote"] + arguments(stoppingAt: call, in: container), in: container)
            while try state(of: process) != "T" {
                guard process.isRunning else { throw NeverStopped() }
                sched_yield()
            }
            return process
        }

        private static func state(of process: StressProcess) throws -> Character? {
            do {
                let text = try String(contentsOfFile: "/proc/\(process.number)/stat", encoding: .utf8)
                return text.split(separator: ") ").last?.first
            } catch {
                // It has ended.
                return nil
            }
        }

        /// How many calls of the system it makes when nothing stops it.
        static func calls(in container: TemporaryContainer) throws -> Int? {
            try PromotingProcess(arguments(stoppingAt: 0, in: container), in: container).finished?.points
        }

        private static func arguments(stoppingAt call: Int, in container: TemporaryContainer) throws
            -> [String]
        {
            let file = container.root.appending(path: "delivered")
            try prose(50_000).write(to: file)
            return ["--stop", "\(call)"] + steps.map { $0.hasPrefix("deliver") ? "\($0)=\(file.path)" : $0 }
        }
    }
#endif

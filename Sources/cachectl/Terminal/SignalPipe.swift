internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Signals as bytes in a pipe, so that one `poll` waits for them and for keys.
final class SignalPipe {
    /// Becomes readable when a signal arrives.
    let readEnd: CInt
    private let writeEnd: CInt
    private let sources: [any DispatchSourceSignal]
    private let numbers: [CInt]

    /// - Parameter urgent: Called at the second signal that ends a process, just before the process ends: whatever
    ///   it is doing, the user wants it to end.
    init(_ numbers: [CInt], urgent: @escaping @Sendable () -> Void) throws(CommandFailure) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.inputOutput, "cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        let (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let ending = Count(0)
        let queue = DispatchQueue(label: "cachectl.SignalPipe")
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if [SIGINT, SIGTERM, SIGHUP].contains(number), ending.increment() > 1 {
                    urgent()
                    _exit(128 + number)
                }
                var byte = UInt8(truncatingIfNeeded: number)
                // A full pipe wakes its reader as well.
                _ = write(writeEnd, &byte, 1)
            }
            source.resume()
            return source
        }
        self.readEnd = readEnd
        self.writeEnd = writeEnd
        self.numbers = numbers
    }

    /// The oldest signal not yet taken.
    func next() -> CInt? {
        var byte: UInt8 = 0
        return read(readEnd, &byte, 1) == 1 ? CInt(byte) : nil
    }

    deinit {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
        // The write end stays open: a handler may be using it.
        close(readEnd)
    }

    private final class Count: Sendable {
        private let value: Mutex<Int>

        init(_ value: Int) {
            self.value = Mutex(value)
        }

        func increment() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }
}

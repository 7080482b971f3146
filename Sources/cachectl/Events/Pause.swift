internal import Foundation
internal import SystemPackage

/// Why a pause ended.
enum Wake: Hashable {
    case due
    /// The reader of standard output has gone.
    case end
    case signal(CInt)
}

/// Waits for a time, a signal, or a closed pipe. Signals arrive through a pipe, so that one `poll` waits for all of them.
final class Pause {
    private let readEnd: CInt
    private let signals: SignalHandler

    init() throws(CommandFailure) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.inputOutput, "cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let writeEnd = ends[1]
        readEnd = ends[0]
        signals = SignalHandler([SIGINT, SIGTERM, SIGHUP]) { number in
            var byte = UInt8(truncatingIfNeeded: number)
            // A failed write to a full pipe is harmless: the reader wakes anyway.
            _ = write(writeEnd, &byte, 1)
        }
    }

    deinit {
        signals.end()
        // The write end stays open: a handler may still be using it.
        close(readEnd)
    }

    func wait(for duration: Duration) -> Wake {
        var polled = [
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: StandardStreams.output.rawValue, events: 0, revents: 0),
        ]
        var count: CInt
        // Interrupted by a signal, of which the pipe tells.
        repeat {
            count = poll(&polled, nfds_t(polled.count), Int32(clamping: max(0, duration.milliseconds)))
        } while count < 0 && errno == EINTR
        guard count > 0 else { return .due }
        var byte: UInt8 = 0
        if polled[0].revents != 0, read(readEnd, &byte, 1) == 1 { return .signal(CInt(byte)) }
        return polled[1].revents != 0 ? .end : .due
    }
}

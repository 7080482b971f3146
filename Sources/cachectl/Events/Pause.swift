internal import Foundation
internal import SystemPackage

/// Why a pause ended.
enum Wake: Hashable {
    case due
    /// The user pressed q, or the reader of standard output has gone.
    case end
    case signal(CInt)
}

/// Waits for a time, a key, a signal, or a closed pipe. Signals arrive through a pipe, so that one `poll` waits for all
/// of them.
final class Pause {
    private let readEnd: CInt
    private let signals: SignalHandler
    private let isScreen: Bool
    private var readsKeys: Bool

    /// - Parameter screen: Standard output if it is a terminal; otherwise its reader may close the pipe.
    init(_ screen: TerminalScreen?) throws(CommandFailure) {
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
        isScreen = screen != nil
        readsKeys = isScreen && StandardStreams.isInputTerminal
        // Without a screen nothing is to be drawn again.
        let numbers = [SIGINT, SIGTERM, SIGHUP] + (isScreen ? [SIGWINCH, SIGTSTP] : [])
        signals = SignalHandler(numbers, urgent: { screen?.leave() }) { number in
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
        // `poll` ignores negative descriptors.
        var polled = [readEnd, readsKeys ? STDIN_FILENO : -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        polled.append(pollfd(fd: isScreen ? -1 : StandardStreams.output.rawValue, events: 0, revents: 0))
        var count: CInt
        // Interrupted by a signal, of which the pipe tells.
        repeat {
            count = poll(&polled, nfds_t(polled.count), Int32(clamping: max(0, duration.milliseconds)))
        } while count < 0 && errno == EINTR
        guard count > 0 else { return .due }
        var byte: UInt8 = 0
        if polled[0].revents != 0, read(readEnd, &byte, 1) == 1 { return .signal(CInt(byte)) }
        if polled[2].revents != 0 { return .end }
        guard polled[1].revents != 0 else { return .due }
        // At the end of input, there are no more keys.
        readsKeys = read(STDIN_FILENO, &byte, 1) == 1
        return readsKeys && [UInt8(ascii: "q"), UInt8(ascii: "Q")].contains(byte) ? .end : .due
    }
}

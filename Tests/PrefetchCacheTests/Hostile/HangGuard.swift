import Dispatch

/// Runs `body`, and ends the process if that takes minutes: a thread that waits for a pipe cannot be cancelled, and a
/// test that waits for ever tells nobody why.
func endingIfItHangs<Result>(_ what: String, _ body: () throws -> Result) rethrows -> Result {
    // Nothing less ends a thread that is blocked in a system call, and the message names the case.
    let end = DispatchWorkItem { fatalError("\(what) hangs") }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(300), execute: end)
    defer { end.cancel() }
    return try body()
}

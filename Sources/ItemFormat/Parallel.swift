internal import Dispatch

/// The results of `work` for 0 ..< `count`, computed on as many threads as there are cores.
package func inParallel<Result>(_ count: Int, _ work: (Int) -> Result) -> [Result] {
    guard count > 1 else { return (0..<count).map(work) }
    return withoutActuallyEscaping(work) { work in
        [Result](unsafeUninitializedCapacity: count) { buffer, initialized in
            // Both are safe to share: `concurrentPerform` returns only after every iteration has,
            // and each iteration works on its own index and initialises its own element.
            nonisolated(unsafe) let results = buffer
            nonisolated(unsafe) let work = work
            DispatchQueue.concurrentPerform(iterations: count) { index in
                results.initializeElement(at: index, to: work(index))
            }
            initialized = count
        }
    }
}

/// A counter that several tasks change without a lock: a sanitizer that does not report it reports nothing.
///
/// Sendable only by claim, which is what is tried here.
final class UnprotectedCounter: @unchecked Sendable {
    private var value = 0

    private func add() { value += 1 }

    /// Long enough for its tasks to meet.
    static func count() async {
        let counter = UnprotectedCounter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500_000 { counter.add() }
                }
            }
        }
        print(counter.value < 0 ? "overflow" : "", terminator: "")
    }
}

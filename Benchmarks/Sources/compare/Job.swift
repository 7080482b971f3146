import Contenders

/// What is measured, in the order in which one round does it.
enum Job: String, CaseIterable {
    case store, read, promote

    /// Has `contender` do this job for every item of `workload`.
    func run(_ contender: any Contender, _ workload: Workload) async throws {
        switch self {
        case .store:
            for index in workload.contents.indices {
                try await contender.store(index, workload.contents[index])
            }
        case .read:
            for index in workload.contents.indices {
                let length = try await contender.read(index)
                guard length == workload.size else {
                    throw WrongContent(contender: contender.name, item: index)
                }
            }
        case .promote:
            for index in workload.contents.indices {
                try await contender.promote(index)
            }
        }
    }
}

/// A contender did not give back what it was given: its figures would mean nothing.
struct WrongContent: Error, CustomStringConvertible {
    let contender: String
    let item: Int

    var description: String { "\(contender) gave back something else for item \(item)" }
}

import PrefetchCaching
import Storytelling

/// Shows that the budget was kept while the files were stored.
struct ProveBudget {
    let run: StoreRun
    let plan: BudgetPlan

    func run(_ report: inout Report) {
        let budget = plan.budget.bytes
        report.line("The budget is \(budget) bytes.")
        report.check(
            "charged: at most \(run.peakCharged), asked \(run.samples) times while storing",
            run.peakCharged <= budget)
        report.check(
            "on the volume: at most \(run.peakAllocated), added up \(run.walks) times",
            run.peakAllocated <= budget)
    }
}

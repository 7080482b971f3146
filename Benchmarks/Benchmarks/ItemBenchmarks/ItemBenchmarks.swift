import Benchmark
import Contenders

/// One item at a time, for baselines and thresholds of `swift package benchmark`: what a change of
/// this project does to its own figures. How they compare with others is for `compare` to say.
let benchmarks: @Sendable () -> Void = {
    let lineup = Lineup.standard()
    for contender in lineup.all {
        for material in Material.allCases {
            Course(contender, material, size: 16 * 1024).register()
        }
    }
}

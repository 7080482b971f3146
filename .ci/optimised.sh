# For the scripts that try the tests in code that is optimised: the same flags and folder for all, or each builds anew.

# The flag reaches our own packages only: SwiftPM builds what it fetches with its warnings suppressed.
optimised=(-c release -Xswiftc -warnings-as-errors -Xswiftc -enable-testing --scratch-path "$PWD/.build-release")

# The tests and what they start. Without a name, everything in the packages that are fetched would be built as well.
build_optimised() {
    local product
    for product in PrefetchCachePackageTests cachectl cachestress promotingchild; do
        swift build "${optimised[@]}" --product "$product" || return
    done
}

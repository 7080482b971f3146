# For the scripts that run the tests in optimised code: the same flags and folder for all, so that none rebuilds.

# The flag applies to our own packages only: SwiftPM suppresses warnings in the packages that it fetches.
optimised=(-c release -Xswiftc -warnings-as-errors -Xswiftc -enable-testing --scratch-path "$PWD/.build-release")

# The tests and the programs that they start. Without a product, SwiftPM would also build all of the fetched packages.
build_optimised() {
    local product
    for product in PrefetchCachePackageTests cachectl testprograms; do
        swift build "${optimised[@]}" --product "$product" || return
    done
}

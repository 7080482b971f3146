// swift-tools-version: 6.1

import PackageDescription

// A package of its own, so that a user of the library resolves none of these dependencies.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "PrefetchCache", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        // Without its traits: they replace malloc and retain/release, which would be measured too.
        .package(url: "https://github.com/ordo-one/benchmark.git", from: "1.38.1", traits: []),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift.git", from: "0.2.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4Frame", pkgConfig: "liblz4",
            providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
        .target(name: "CFloor", dependencies: ["CLZ4Frame"]),
        .target(name: "CVolume"),
        .target(
            name: "Contenders",
            dependencies: ["CFloor", "CVolume", .product(name: "PrefetchCache", package: "PrefetchCache")]),
        .executableTarget(
            name: "compare",
            dependencies: [
                "Contenders",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "latency",
            dependencies: [
                "Contenders",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "PrefetchCache", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "live-budget",
            dependencies: [
                "Contenders",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "growth",
            dependencies: [
                "CFloor", "Contenders",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "PrefetchCache", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "policy-replay",
            dependencies: [
                "Contenders",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "PrefetchCache", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "ItemBenchmarks",
            dependencies: ["Contenders", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/ItemBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where !["CLZ4Frame", "CFloor", "CVolume"].contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}

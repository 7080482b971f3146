// swift-tools-version: 6.1

import Foundation
import PackageDescription

/// A library that is compared with where it is installed, and done without where it is not.
struct Peer {
    let target: String
    let header: String
    let pkgConfig: String
    let condition: String
    let package: (debian: String, brew: String)

    var isInstalled: Bool {
        ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].contains {
            FileManager.default.fileExists(atPath: "\($0)/\(header)")
        }
    }
}

let peers = [
    Peer(
        target: "CPeerLMDB", header: "lmdb.h", pkgConfig: "lmdb", condition: "HAS_LMDB",
        package: ("liblmdb-dev", "lmdb")),
    Peer(
        target: "CPeerRocksDB", header: "rocksdb/c.h", pkgConfig: "rocksdb", condition: "HAS_ROCKSDB",
        package: ("librocksdb-dev", "rocksdb")),
].filter(\.isInstalled)

// A package of its own, so that a user of the library resolves none of these dependencies.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "PrefetchCache", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        // For its module of the system's SQLite, which is a peer too.
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        // Without its traits: they replace malloc and retain/release, which would be measured too.
        .package(url: "https://github.com/ordo-one/benchmark.git", from: "1.38.1", traits: []),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift.git", from: "0.2.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4Frame", pkgConfig: "liblz4",
            providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
        .systemLibrary(
            name: "CLibXXHash", pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
        .target(name: "CFloor", dependencies: ["CLZ4Frame"]),
        .target(name: "CVolume"),
        .target(
            name: "Contenders",
            dependencies: [
                "CFloor", "CVolume",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
            ] + peers.map { .target(name: $0.target) },
            exclude: ["Peers/diskcache_peer.py"],
            swiftSettings: peers.map { .define($0.condition) }),
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
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
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
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "policy-replay",
            dependencies: [
                "Contenders",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "checksums",
            dependencies: [
                "CLibXXHash", "Contenders",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "_CPrefetchChecksum", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "ItemBenchmarks",
            dependencies: ["Contenders", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/ItemBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ],
    swiftLanguageModes: [.v6]
)

package.targets += peers.map { peer in
    .systemLibrary(
        name: peer.target, pkgConfig: peer.pkgConfig,
        providers: [.apt([peer.package.debian]), .brew([peer.package.brew])])
}

for target in package.targets where target.type != .system && !["CFloor", "CVolume"].contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}

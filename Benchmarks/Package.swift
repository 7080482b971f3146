// swift-tools-version: 6.1

import Foundation
import PackageDescription

/// LMDB is compared with where it is installed, and done without where it is not.
let hasLMDB = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].contains {
    FileManager.default.fileExists(atPath: "\($0)/lmdb.h")
}

let prefetchCaching = Target.Dependency.product(name: "PrefetchCaching", package: "PrefetchCache")

func program(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Contenders", .product(name: "ArgumentParser", package: "swift-argument-parser")]
            + dependencies)
}

// A package of its own, so that a user of the library resolves none of these dependencies.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "PrefetchCache", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        // For its module of the system's SQLite, which is a peer too.
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4Frame", pkgConfig: "liblz4",
            providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
        .systemLibrary(
            name: "CLibXXHash", pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
        .target(name: "CFloor", dependencies: ["CLZ4Frame"]),
        .target(
            name: "Contenders",
            dependencies: [
                "CFloor",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                prefetchCaching,
            ] + (hasLMDB ? [.target(name: "CPeerLMDB")] : []),
            exclude: ["Peers/diskcache_peer.py"],
            swiftSettings: hasLMDB ? [.define("HAS_LMDB")] : []),
        program("compare"),
        program("latency", [prefetchCaching]),
        program("growth", [prefetchCaching]),
        program("policy-replay", [prefetchCaching]),
        program(
            "checksums", ["CLibXXHash", .product(name: "_CPrefetchChecksum", package: "PrefetchCache")]),
    ],
    swiftLanguageModes: [.v6]
)

if hasLMDB {
    package.targets.append(
        .systemLibrary(
            name: "CPeerLMDB", pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]))
}

for target in package.targets where target.type != .system && target.name != "CFloor" {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}

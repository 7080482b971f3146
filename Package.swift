// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "PrefetchCache",
    // `Mutex` and task executors set the floor.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "PrefetchCache", targets: ["PrefetchCache"]),
        .library(name: "PrefetchDownloader", targets: ["PrefetchDownloader"]),
        .executable(name: "cachectl", targets: ["cachectl"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-system.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.11.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4", pkgConfig: "liblz4",
            providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
        .target(name: "CPlatform"),
        .target(
            name: "FileSystem",
            dependencies: ["CPlatform", .product(name: "SystemPackage", package: "swift-system")]),
        .target(name: "StorageAreas", dependencies: ["FileSystem"]),
        .target(name: "VolumeCapacity", dependencies: ["FileSystem"]),
        .target(name: "ItemFormat", dependencies: ["CLZ4", "CXXHash", "FileSystem", "StorageAreas"]),
        .target(
            name: "PrefetchCache",
            dependencies: [
                "FileSystem", "ItemFormat", "StorageAreas", "VolumeCapacity",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "PrefetchDownloader",
            dependencies: [
                "PrefetchCache",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "StorageInventory",
            dependencies: ["FileSystem", "ItemFormat", "PrefetchCache", "StorageAreas"]),
        .executableTarget(
            name: "cachectl",
            dependencies: [
                "FileSystem", "PrefetchCache", "PrefetchDownloader", "StorageInventory",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .target(
            name: "FileSystemTestSupport",
            dependencies: ["FileSystem", "StorageAreas"],
            path: "Tests/FileSystemTestSupport"),
        // Many writers at once, and a sampler that watches them, each a process of its own.
        .executableTarget(
            name: "cachestress",
            dependencies: [
                "FileSystem", "FileSystemTestSupport", "PrefetchCache", "VolumeCapacity",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/CacheStress"),
        // Promotes items, and dies or cuts the power of its volume in the middle.
        .executableTarget(
            name: "promotingchild",
            dependencies: [
                "FileSystem", "FileSystemTestSupport", "PrefetchCache", "VolumeCapacity",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/PromotingChild"),
        .testTarget(name: "FileSystemTests", dependencies: ["FileSystem", "FileSystemTestSupport"]),
        .testTarget(name: "StorageAreasTests", dependencies: ["StorageAreas", "FileSystemTestSupport"]),
        .testTarget(
            name: "VolumeCapacityTests", dependencies: ["VolumeCapacity", "FileSystemTestSupport"]),
        .testTarget(
            name: "ItemFormatTests", dependencies: ["CLZ4", "ItemFormat", "FileSystemTestSupport"],
            resources: [.copy("Golden")]),
        .testTarget(
            name: "PrefetchCacheTests",
            dependencies: [
                "PrefetchCache", "FileSystemTestSupport", "cachectl", "cachestress", "promotingchild",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        // A server on loopback that can misbehave in every way that the downloader must stand.
        .target(name: "HTTPTestServer", path: "Tests/HTTPTestServer"),
        .testTarget(
            name: "PrefetchDownloaderTests",
            dependencies: [
                "FileSystem", "FileSystemTestSupport", "HTTPTestServer", "PrefetchCache",
                "PrefetchDownloader",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .testTarget(
            name: "StorageInventoryTests",
            dependencies: [
                "FileSystemTestSupport", "PrefetchCache", "StorageInventory", "VolumeCapacity",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "cachectlTests",
            dependencies: [
                "cachectl", "FileSystem", "HTTPTestServer", "PrefetchCache", "PrefetchDownloader",
                "StorageInventory",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where ![.system, .plugin].contains(target.type) && !target.name.hasPrefix("C") {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}

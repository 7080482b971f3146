// swift-tools-version: 6.1

import PackageDescription

// A resource makes a bundle, which Linux has no use for: there the manifest is left out.
#if os(macOS)
    let privacyResources: [Resource] = [.process("PrivacyInfo.xcprivacy")]
    let privacyExclusions: [String] = []
    // Libraries that are not needed there must not be looked for: some builds warn when they are missing.
    func config(_ library: String) -> String? { nil }
#else
    let privacyResources: [Resource] = []
    let privacyExclusions = ["PrivacyInfo.xcprivacy"]
    func config(_ library: String) -> String? { library }
#endif

// liblz4 and libxxhash are needed on Linux only. Apple platforms have the Compression framework and the checksums of
// CPrefetchChecksum; with PREFETCHCACHE_PORTABLE set, Linux computes these, too.
let isPortable = Context.environment["PREFETCHCACHE_PORTABLE"] != nil
// What `cachectl --version` shows of where a package was built from; `.ci/package` sets it.
let commit = Context.environment["PREFETCHCACHE_COMMIT"]
let applePlatforms: [Platform] = [.macOS, .macCatalyst, .iOS, .watchOS, .visionOS]
let lz4: Target.Dependency = .target(name: "CPrefetchLZ4", condition: .when(platforms: [.linux]))
let xxHash: Target.Dependency = .target(name: "CPrefetchXXHash", condition: .when(platforms: [.linux]))
let checksums: [Target.Dependency] =
    isPortable
    ? ["CPrefetchChecksum"]
    : [xxHash, .target(name: "CPrefetchChecksum", condition: .when(platforms: applePlatforms))]

// What the fuzzer calls, and with it the tests that give it the inputs found.
let fuzzedDependencies: [Target.Dependency] = [
    "cachectl", "PrefetchFileSystem", "FileSystemTestSupport", "PrefetchItemFormat", "ItemFormatTestSupport",
    "PrefetchCaching", "PrefetchDownloading", "PrefetchStorageAreas", "PrefetchVolumeCapacity",
    "StorageInventory", .product(name: "Logging", package: "swift-log"),
    .product(name: "SystemPackage", package: "swift-system"),
]

let package = Package(
    name: "PrefetchCache",
    // `Mutex` and task executors set the floor. tvOS keeps no files for an app, so that nothing could be promoted there.
    platforms: [.macOS(.v15), .iOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "PrefetchCaching", targets: ["PrefetchCaching"]),
        .library(name: "PrefetchDownloading", targets: ["PrefetchDownloading"]),
        .library(name: "PrefetchMetrics", targets: ["PrefetchMetrics"]),
        .library(name: "StorageInventory", targets: ["StorageInventory"]),
        .executable(name: "cachectl", targets: ["cachectl"]),
        // For Benchmarks only.
        .library(name: "_CPrefetchChecksum", targets: ["CPrefetchChecksum"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-system.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CPrefetchLZ4", pkgConfig: config("liblz4"), providers: [.apt(["liblz4-dev"])]),
        .systemLibrary(
            name: "CPrefetchXXHash", pkgConfig: config("libxxhash"), providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(
            name: "CPrefetchCurl", pkgConfig: config("libcurl"), providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CPrefetchZlib", pkgConfig: config("zlib"), providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CPrefetchCrypto", pkgConfig: config("libcrypto"), providers: [.apt(["libssl-dev"])]),
        .target(name: "CPrefetchChecksum"),
        .target(
            name: "CPrefetchPlatform",
            cSettings: commit.map { [.define("PREFETCHCACHE_COMMIT", to: $0)] } ?? []),
        .target(
            name: "PrefetchFileSystem",
            dependencies: ["CPrefetchPlatform", .product(name: "SystemPackage", package: "swift-system")]),
        .target(name: "PrefetchStorageAreas", dependencies: ["PrefetchFileSystem"]),
        .target(name: "PrefetchVolumeCapacity", dependencies: ["PrefetchFileSystem"]),
        .target(
            name: "PrefetchItemFormat",
            dependencies: [lz4, "PrefetchFileSystem", "PrefetchStorageAreas"] + checksums,
            swiftSettings: [
                .define("PREFETCHCACHE_PORTABLE", isPortable ? nil : .when(platforms: applePlatforms))
            ]),
        .target(
            name: "PrefetchCaching",
            dependencies: [
                "PrefetchFileSystem", "PrefetchItemFormat", "PrefetchStorageAreas", "PrefetchVolumeCapacity",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: privacyExclusions, resources: privacyResources),
        .target(
            name: "PrefetchDownloading",
            dependencies: [
                "PrefetchCaching",
                .target(name: "CPrefetchCurl", condition: .when(platforms: [.linux])),
                .target(name: "CPrefetchZlib", condition: .when(platforms: [.linux])),
                .target(name: "CPrefetchCrypto", condition: .when(platforms: [.linux])),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "PrefetchMetrics",
            dependencies: ["PrefetchCaching", .product(name: "CoreMetrics", package: "swift-metrics")]),
        .target(
            name: "StorageInventory",
            dependencies: [
                "PrefetchFileSystem", "PrefetchItemFormat", "PrefetchCaching", "PrefetchStorageAreas",
            ]),
        .executableTarget(
            name: "cachectl",
            dependencies: [
                "CPrefetchPlatform", "PrefetchFileSystem", "PrefetchCaching", "PrefetchDownloading",
                "StorageInventory",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .target(
            name: "FileSystemTestSupport",
            dependencies: ["PrefetchFileSystem", "PrefetchStorageAreas"],
            path: "Tests/FileSystemTestSupport"),
        // Items that the writer would never write.
        .target(
            name: "ItemFormatTestSupport", dependencies: ["PrefetchItemFormat"],
            path: "Tests/ItemFormatTestSupport"),
        // The processes that tests start: many writers at once; promotions that die or cut the power of their volume in the
        // middle.
        .executableTarget(
            name: "testprograms",
            dependencies: [
                "PrefetchFileSystem", "FileSystemTestSupport", "PrefetchCaching", "PrefetchVolumeCapacity",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/TestPrograms"),
        .testTarget(name: "FileSystemTests", dependencies: ["PrefetchFileSystem", "FileSystemTestSupport"]),
        .testTarget(
            name: "StorageAreasTests", dependencies: ["PrefetchStorageAreas", "FileSystemTestSupport"]),
        .testTarget(
            name: "VolumeCapacityTests", dependencies: ["PrefetchVolumeCapacity", "FileSystemTestSupport"]),
        .testTarget(
            name: "ItemFormatTests",
            dependencies: [
                lz4, xxHash, "CPrefetchChecksum", "PrefetchItemFormat", "ItemFormatTestSupport",
                "FileSystemTestSupport",
            ],
            resources: [.copy("Golden")]),
        .testTarget(
            name: "PrefetchCacheTests",
            dependencies: [
                "PrefetchCaching", "FileSystemTestSupport", "ItemFormatTestSupport", "cachectl",
                "testprograms",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], exclude: ["Record/EarlierContainer"]),
        // A server on loopback that can misbehave in every way that the downloader must stand.
        .target(
            name: "HTTPTestServer", dependencies: ["FileSystemTestSupport"], path: "Tests/HTTPTestServer"),
        .testTarget(
            name: "PrefetchDownloaderTests",
            dependencies: [
                "PrefetchFileSystem", "FileSystemTestSupport", "HTTPTestServer", "PrefetchCaching",
                "PrefetchDownloading",
                .target(name: "CPrefetchZlib", condition: .when(platforms: [.linux])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .testTarget(
            name: "PrefetchMetricsTests",
            dependencies: [
                "FileSystemTestSupport", "PrefetchCaching", "PrefetchMetrics",
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]),
        .testTarget(
            name: "StorageInventoryTests",
            dependencies: [
                "FileSystemTestSupport", "PrefetchCaching", "StorageInventory",
                "PrefetchVolumeCapacity", "cachectl",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "cachectlTests",
            dependencies: [
                "cachectl", "PrefetchFileSystem", "FileSystemTestSupport", "HTTPTestServer",
                "PrefetchItemFormat",
                "ItemFormatTestSupport", "PrefetchCaching", "PrefetchDownloading", "StorageInventory",
                .product(name: "SystemPackage", package: "swift-system"),
            ], exclude: ["Golden"]),
        // What the fuzzer calls, with the inputs that it found.
        .testTarget(
            name: "FuzzingTests", dependencies: fuzzedDependencies, path: "Tests/Fuzzing",
            exclude: ["Corpora", "Driver"], sources: ["Entries", "Tests"]),
    ],
    swiftLanguageModes: [.v6]
)

// For `.ci/fuzz`, which gives the path of libFuzzer: the fuzzer, and of everything else what it calls, with the address
// sanitizer and the coverage that libFuzzer follows. Of the command line that is a few files.
if let libFuzzer = Context.environment["PREFETCHCACHE_FUZZING"] {
    let instrumented = [
        "PrefetchFileSystem", "PrefetchStorageAreas", "PrefetchVolumeCapacity", "PrefetchItemFormat",
        "PrefetchCaching", "PrefetchDownloading", "StorageInventory",
    ]
    let others = [
        "CPrefetchLZ4", "CPrefetchXXHash", "CPrefetchCurl", "CPrefetchZlib", "CPrefetchChecksum",
        "CPrefetchPlatform", "FileSystemTestSupport", "ItemFormatTestSupport",
    ]
    package.products = []
    package.targets = package.targets.filter { (instrumented + others).contains($0.name) }
    package.targets += [
        .target(
            name: "cachectl",
            dependencies: [
                "PrefetchCaching", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            sources: [
                "Input/Quantities.swift", "Output/JSON.swift", "Output/Numbers.swift", "Output/Text.swift",
                "Report/HTML.swift",
            ])
    ]
    for target in package.targets where !others.contains(target.name) {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [.unsafeFlags(["-O", "-sanitize=address", "-sanitize=fuzzer"])]
    }
    package.targets.append(
        .executableTarget(
            name: "fuzz", dependencies: fuzzedDependencies, path: "Tests/Fuzzing",
            exclude: ["Corpora", "Tests"], sources: ["Entries", "Driver"],
            swiftSettings: [.unsafeFlags(["-O", "-sanitize=address", "-sanitize=fuzzer"])],
            linkerSettings: [
                .unsafeFlags(["-sanitize=address", "-use-ld=lld", "-Xlinker", libFuzzer, "-lstdc++"])
            ]))
}

// For a run of a few test targets, named with commas between: these, and what they use.
if let names = Context.environment["PREFETCHCACHE_TESTS"] {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var needed: Set<String> = []
    var open = names.split(separator: ",").map(String.init)
    while let name = open.popLast() {
        guard let target = targets[name], needed.insert(name).inserted else { continue }
        for case .targetItem(let name, _) in target.dependencies { open.append(name) }
        for case .byNameItem(let name, _) in target.dependencies { open.append(name) }
    }
    package.products = []
    package.targets.removeAll { !needed.contains($0.name) }
}

for target in package.targets where ![.system, .plugin].contains(target.type) && !target.name.hasPrefix("C") {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}

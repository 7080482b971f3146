// swift-tools-version: 6.1

import PackageDescription

// A package of its own, as an app that uses the library would be.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "PrefetchCache", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "Walkthrough",
            dependencies: [
                .product(name: "PrefetchCache", package: "PrefetchCache")
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ],
    swiftLanguageModes: [.v6]
)

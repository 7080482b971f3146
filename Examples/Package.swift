// swift-tools-version: 6.1

import PackageDescription

// A separate package, as an app that uses the library would be.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "PrefetchCache", path: ".."),
        // The server that a player on this machine plays from: HTTP directly on sockets.
        .package(url: "https://github.com/swhitty/FlyingFox.git", from: "0.27.1"),
    ],
    targets: [
        .executableTarget(
            name: "Walkthrough",
            dependencies: [
                "Storytelling",
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "Podcasts",
            dependencies: [
                "MediaServer", "Storytelling",
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
                .product(name: "PrefetchDownloading", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "URLSessionIntegration",
            dependencies: [
                "MediaServer", "Storytelling",
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
                .product(name: "PrefetchDownloading", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "Streaming",
            dependencies: [
                "MediaServer", "Storytelling",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
                .product(name: "PrefetchDownloading", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "StorageChecking",
            dependencies: [
                "Storytelling",
                .product(name: "StorageInventory", package: "PrefetchCache"),
            ]),
        // The programs of the tutorials in the documentation.
        .executableTarget(
            name: "PodcastTutorial",
            dependencies: [
                "MediaServer", "Storytelling",
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
                .product(name: "PrefetchDownloading", package: "PrefetchCache"),
            ]),
        .executableTarget(
            name: "ReaderTutorial",
            dependencies: [
                "MediaServer", "Storytelling",
                .product(name: "PrefetchCaching", package: "PrefetchCache"),
                .product(name: "PrefetchDownloading", package: "PrefetchCache"),
            ]),
        // The frame of the stories: output, workspace and exit codes.
        .target(name: "Storytelling"),
        // nginx, which serves what the stories download.
        .target(name: "MediaServer", dependencies: ["Storytelling"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}

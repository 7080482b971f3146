// swift-tools-version: 6.1

import PackageDescription

let caching = Target.Dependency.product(name: "PrefetchCaching", package: "PrefetchCache")
let downloading = Target.Dependency.product(name: "PrefetchDownloading", package: "PrefetchCache")
let inventory = Target.Dependency.product(name: "StorageInventory", package: "PrefetchCache")

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
        // Start here.
        .executableTarget(name: "Walkthrough", dependencies: ["Storytelling", caching]),
        // The programs of the tutorials in the documentation.
        .executableTarget(name: "PodcastTutorial", dependencies: ["Storytelling", caching, downloading]),
        .executableTarget(name: "ReaderTutorial", dependencies: ["Storytelling", caching, downloading]),
        // Each shows one thing that not every app needs.
        .executableTarget(
            name: "Streaming",
            dependencies: [
                "Storytelling", caching, downloading, .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ]),
        .executableTarget(
            name: "URLSessionIntegration", dependencies: ["Storytelling", caching, downloading]),
        .executableTarget(name: "StorageChecking", dependencies: ["Storytelling", inventory]),
        // What they have in common, none of it needed in an app: output, a folder to work in, and a server.
        .target(name: "Storytelling"),
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

internal import Foundation
internal import Logging

/// What a downloader takes from outside.
struct DownloaderEnvironment: Sendable {
    var transport: any Transport = SessionTransport()
    /// Waits, and throws when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// The time in seconds since 1970, for the dates of servers.
    var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    /// Returns a random number from 0 to 1.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    var logger = Logger(label: "PrefetchDownloader")
}

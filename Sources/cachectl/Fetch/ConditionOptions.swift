internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchDownloading
internal import SystemPackage

/// The options of 'fetch' that say when to download.
struct ConditionOptions: ParsableArguments {
    @Flag(help: "Only over a network that is not metered, as --device-state says.")
    var unmetered = false

    @Flag(help: "Only over a network that is not to be used sparingly, as --device-state says.")
    var unconstrained = false

    @Flag(help: "Only while the machine is charging or has no battery.")
    var powered = false

    @Option(
        help: ArgumentHelp(
            "Only in this part of the day (local time), such as 01:00-05:00; may be repeated.",
            valueName: "hours"),
        transform: DailyHours.parse)
    var between: [DailyHours] = []

    @Option("At most this much of each source in a day (UTC).", "size", parse: ByteSize.parse)
    var dailyLimit: ByteCount?

    @Option(
        help: ArgumentHelp(
            "A file that the system keeps up to date, with lines such as metered=yes, constrained=no and power=yes.",
            valueName: "file"),
        completion: .file(), transform: FilePath.parse)
    var deviceState: FilePath?

    func validate() throws {
        if unmetered || unconstrained, deviceState == nil {
            throw ValidationError(
                "--unmetered and --unconstrained need --device-state <file>: Linux does not say what a network is like"
            )
        }
    }

    /// Whoever enters the command wants it done now, but for what it says.
    var conditions: DownloadConditions {
        var conditions = DownloadConditions(
            network: NetworkConditions(allowsConstrained: !unconstrained, allowsExpensive: !unmetered))
        conditions.requiresExternalPower = powered
        conditions.hours = between
        conditions.dailyLimit = dailyLimit
        return conditions
    }

    var device: DeviceStateSource {
        deviceState.map { .file(URL(filePath: $0.string)) } ?? .system
    }
}

extension DailyHours {
    fileprivate static func parse(_ text: String) throws -> DailyHours {
        guard let hours = DailyHours(text) else {
            throw ValidationError("'\(text)' is no part of a day; write for example 01:00-05:00")
        }
        return hours
    }
}

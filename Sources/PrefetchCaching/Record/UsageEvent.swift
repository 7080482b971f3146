internal import Foundation
internal import PrefetchItemFormat
internal import PrefetchVolumeCapacity

/// Something that the figures count, and the journal tells.
struct UsageEvent: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// Bytes of the item's file.
        case stored(fileBytes: Int64)
        /// A cached item was read so many times.
        case read(count: Int64, isFirst: Bool)
        /// Nothing was found. The event has source, length and time if the item is remembered: it had been there, or was
        /// declined.
        case missed(count: Int64, wasStored: Bool)
        case left(Departure, wasUsed: Bool)
        case delivered
        case reopened
        case refused(PrefetchFigures.Metric)
        /// An item was refused for its worth for the first time, and is remembered.
        case declined

        // Not counted.
        case pressure(Pressure)
        /// The budget is ``chargedBytes`` now.
        case budget
        case rebuilt(items: Int)
        /// Items of the source vanished with the catalog.
        case vanished(items: Int64)
    }

    var kind: Kind
    /// Empty if unknown.
    var key = ""
    var source = ""
    var contentBytes: Int64 = 0
    var chargedBytes: Int64 = 0
    /// When the item was stored, in milliseconds since 1970, if known.
    var storedAt: Int64?
}

/// The days that figures are summed up by: UTC, numbered from 1970.
enum HistoryDay {
    static let milliseconds: Int64 = 86_400_000

    /// - Parameter time: Milliseconds since 1970.
    static func containing(_ time: Int64) -> Int32 {
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: milliseconds)
        return Int32(clamping: remainder < 0 ? quotient - 1 : quotient)
    }
}

extension UsageEvent {
    /// Longer times between storing and first use are those of a clock that was changed.
    private static let longestDelay = 400 * HistoryDay.milliseconds

    /// The shortest age at first use that is told apart, in milliseconds.
    private static let shortestAge: Int64 = 60_000

    /// Adds the event to the figures of its source.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func count(in rows: inout HistoryRows, now: Int64) {
        let today = HistoryDay.containing(now)
        // An item from the future, of a clock that was set back since, counts as one of today.
        let cohort = storedAt.map { min(HistoryDay.containing($0), today) } ?? today
        var figures = PrefetchFigures()
        var ofDay = PrefetchFigures()

        /// - Returns: Milliseconds since the item was stored, if that is plausible.
        @discardableResult
        func countAge() -> Int64? {
            guard let storedAt, case let age = now.subtractingOrMax(storedAt),
                (0...Self.longestDelay).contains(age)
            else { return nil }
            let seconds = Double(max(age, Self.shortestAge)) / 1000
            figures.add(Int64((log(seconds) * 1000).rounded()), to: .ageLogarithms)
            figures.add(to: .ages)
            return age
        }

        func countFirstUse() {
            figures.add(to: .used)
            figures.add(contentBytes, to: .usedBytes)
            ofDay.add(to: .usedOfDay)
            guard let age = countAge() else { return }
            figures.add(age, to: .delayMilliseconds)
            figures.add(to: .delays)
        }

        switch kind {
        case .stored(let fileBytes):
            ofDay.add(to: .stored)
            ofDay.add(contentBytes, to: .storedBytes)
            ofDay.add(fileBytes, to: .storedFileBytes)
        case .read(let count, let isFirst):
            figures.add(count, to: .read)
            if isFirst { countFirstUse() }
        case .missed(let count, _):
            figures.add(count, to: .missed)
            guard storedAt != nil else { break }
            figures.add(contentBytes, to: .missedBytes)
            ofDay.add(to: .wantedOfDay)
            countAge()
        case .left(let reason, let wasUsed):
            figures.add(to: reason.items)
            figures.add(contentBytes, to: reason.bytes)
            if [.pressure, .budget, .expired, .request].contains(reason) {
                figures.add(chargedBytes, to: .evictedChargedBytes)
            }
            if reason == .opened {
                if !wasUsed { countFirstUse() }
            } else if !wasUsed {
                figures.add(to: .wasted)
                figures.add(contentBytes, to: .wastedBytes)
                if reason == .replaced { ofDay.add(to: .replacedOfDay) }
            }
        case .delivered:
            figures.add(to: .delivered)
            figures.add(contentBytes, to: .deliveredBytes)
        case .reopened: figures.add(to: .reopened)
        case .refused(let metric): figures.add(to: metric)
        case .declined: ofDay.add(to: .declined)
        case .pressure, .budget, .rebuilt, .vanished: return
        }
        rows.add(figures, day: today, source: SourceName(source))
        rows.add(ofDay, day: cohort, source: SourceName(source))
    }
}

extension Int64 {
    func subtractingOrMax(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? .max : difference
    }
}

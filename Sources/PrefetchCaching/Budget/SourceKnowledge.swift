internal import Foundation
internal import PrefetchItemFormat

/// What the history says about the sources of items: how likely what they send is opened, and how soon.
///
/// An article of the documentation, Worth, derives the formulas. All constants were chosen by cross-validation over
/// users; the results hardly depend on any of them.
struct SourceKnowledge: Sendable {
    struct Source: Sendable {
        /// The probability that an item is opened, between 0 and 1.
        fileprivate(set) var openRate: Double
        /// Bytes of content of one item, on average.
        let meanBytes: Double
        /// Items that arrived, stored or declined.
        let arrived: Double
        /// Whether so little of it is opened, for the space that it takes, that downloading it is not worth while.
        fileprivate(set) var isPaused = false
        /// Bytes that arrived recently.
        fileprivate let recentBytes: Double

        /// ``meanBytes`` as a length.
        var usualLength: Int64 { Int64(min(meanBytes, 1e18)) }

        /// - Parameter usualBytes: The mean length for a source of which nothing was stored.
        fileprivate init(_ sums: Sums, prior: Double, usualBytes: Double) {
            let rate = (sums.opened + strengthOfPrior * prior) / (sums.trials + strengthOfPrior)
            openRate = min(max(rate, 1e-4), 0.98)
            meanBytes = sums.weight > 0 ? max(1, sums.bytes / sums.weight) : usualBytes
            arrived = sums.arrived
            recentBytes = sums.recentBytes
        }
    }

    /// Sums over the days of one source, weighted.
    fileprivate struct Sums {
        var opened = 0.0
        /// Arrived items, each as far as it would have been opened by now if it is opened at all.
        var trials = 0.0
        var bytes = 0.0
        var weight = 0.0
        var arrived = 0.0
        var recentBytes = 0.0
    }

    /// Sources that are told apart: those that sent most. All others share the prior.
    private static let most = 256
    /// With fewer items a source is not yet told from others.
    private static let fewestItems = 3.0
    /// How many items' worth of evidence the rate of all sources is for a new one.
    private static let strengthOfPrior = 2.0
    /// The weight of a day relative to the next …
    private static let dailyDecay = 0.985
    /// … and of an item relative to the next of its source.
    private static let itemDecay = 0.94
    /// Half of what is opened is opened within 12 hours, until the ages at opening are known; counts like 5 of them.
    private static let priorAge = (logarithm: log(12 * 3600.0), strength: 5.0)
    /// The part of the usual age at opening after which an item has lost half of its odds.
    private static let fading = 0.8
    /// The power of the mean size that a worth is divided by. Higher ones open more of what is small, and lose bytes.
    private static let sizeExponent = 0.45
    /// Worths that differ by less than this factor count as equal: a rate is not known more exactly from some dozen items.
    private static let step = 1.1
    /// A source is paused below this part of what is downloaded otherwise, and of the items opened.
    private static let pause = (part: 0.28, openRate: 0.3)
    /// No source is paused before it has sent so many items.
    private static let fewestToPause = 5.0
    /// The days of which the sources' shares in what is downloaded are taken.
    private static let recentDays = 60
    /// The usual age at opening is within these bounds, in seconds, whatever a damaged history says.
    private static let plausibleAge = 60.0...4e7
    private static let day = 86_400.0

    /// Those told apart, by name.
    private(set) var sources: [SourceName: Source] = [:]
    /// The rate of a source about which nothing is known.
    private let prior: Double
    private let meanBytes: Double
    /// The geometric mean of the ages at opening, in seconds.
    let usualAge: Double

    /// The names of the sources told apart.
    var names: Dictionary<SourceName, Source>.Keys { sources.keys }

    /// - Parameter now: In milliseconds since 1970.
    init(_ rows: HistoryRows, now: Int64) {
        let seconds = Double(now) / 1000
        let today = HistoryDay.containing(now)
        var ages = Self.priorAge.strength
        var logarithms = Self.priorAge.logarithm * Self.priorAge.strength
        for (place, figures) in rows.figures {
            let weight = Self.weight(daysAgo: Int(today) - Int(place.day))
            ages += weight * max(0, Double(figures[.ages]))
            logarithms += weight * max(0, Double(figures[.ageLogarithms])) / 1000
        }
        let usualAge = min(
            max(exp(logarithms / ages), Self.plausibleAge.lowerBound), Self.plausibleAge.upperBound)
        self.usualAge = usualAge

        let sums = Dictionary(grouping: rows.figures, by: \.key.source)
            .mapValues { days in
                Self.sums(days.map { (day: $0.key.day, figures: $0.value) }, today, seconds, usualAge)
            }
        // Each source counts about the same, whether it sends much or little.
        let rate = sums.values.reduce((opened: 0.1, trials: 0.2)) { rate, sums in
            let weight = 1 / (sums.trials + Self.strengthOfPrior + 3)
            return (rate.opened + weight * sums.opened, rate.trials + weight * sums.trials)
        }
        let prior = min(0.95, rate.opened / rate.trials)
        self.prior = prior
        let all = sums.values.reduce((bytes: 0.0, weight: 0.0)) {
            ($0.bytes + $1.bytes, $0.weight + $1.weight)
        }
        meanBytes = all.weight > 0 ? max(1, all.bytes / all.weight) : 1
        let known = sums.filter { $0.value.arrived >= Self.fewestItems && $0.key != HistoryRows.others }
        for (name, sums) in known.sorted(by: { ($1.value.weight, $0.key) < ($0.value.weight, $1.key) })
            .prefix(Self.most)
        {
            sources[name] = Source(sums, prior: prior, usualBytes: meanBytes)
        }
        pause()
    }

    private static func sums(
        _ days: [(day: Int32, figures: PrefetchFigures)], _ today: Int32, _ now: Double, _ usualAge: Double
    ) -> Sums {
        var sums = Sums()
        for (day, figures) in days.sorted(by: { $0.day > $1.day }) {
            let arrived = Double(figures[.stored]) + Double(figures[.declined])
            guard arrived > 0 else { continue }
            let daysAgo = Int(today) - Int(day)
            let weight = weight(daysAgo: daysAgo) * pow(itemDecay, sums.arrived)
            let start = Double(day) * Self.day
            let age = day >= today ? max(900, (now - start) / 2) : max(3600, now - start - Self.day / 2)
            // The share of the ages at opening below `age`: log-logistic, which has heavy tails on both sides.
            let share = 1 - 1 / (1 + age / usualAge)
            sums.opened += weight * (Double(figures[.usedOfDay]) + Double(figures[.wantedOfDay]))
            sums.trials += weight * max(0, arrived - Double(figures[.replacedOfDay])) * share
            sums.bytes += weight * Double(figures[.storedBytes])
            sums.weight += weight * Double(figures[.stored])
            sums.arrived += arrived
            if daysAgo <= recentDays { sums.recentBytes += Double(figures[.storedBytes]) }
        }
        return sums
    }

    private static func weight(daysAgo: Int) -> Double { pow(dailyDecay, Double(max(0, daysAgo))) }

    /// Whether items of exactly this source are among what is known.
    func knows(_ source: String) -> Bool { sources[SourceName(source)] != nil }

    /// What is known of a source under the name that the history has of it, which is cut.
    func known(_ source: String) -> Source? { sources[HistoryRows.kept(SourceName(source))] }

    /// What an item is worth: the odds that it is opened still, for the space that the source's items take, on a scale of
    /// equal steps. Only the order of two worths has a meaning.
    ///
    /// - Parameter age: Milliseconds since it was stored.
    func worth(ofSource source: String, age: Int64) -> Double {
        let known = known(source)
        let worth = chance(ofSource: source, age: age) / pow(known?.meanBytes ?? meanBytes, Self.sizeExponent)
        return (log(worth) / log(Self.step)).rounded(.down)
    }

    /// The probability that an item that was not opened yet is opened still, from 0 to 1.
    ///
    /// - Parameter age: Milliseconds since it was stored.
    func chance(ofSource source: String, age: Int64) -> Double {
        let rate = known(source)?.openRate ?? prior
        let fade = 1 + Double(age) / 1000 / (Self.fading * usualAge)
        return rate / (rate + (1 - rate) * fade)
    }

    /// Whether an item is not worth downloading. Of a paused source every tenth item is let through, so that a returning
    /// interest is noticed; which ones depends on their keys, so that it is the same the next time.
    func pauses(_ key: ItemKey, from source: String) -> Bool {
        known(source)?.isPaused == true && key.hash.low % 10 != 0
    }

    /// The mean length of a source's items in bytes of content; `nil` if nothing is known.
    func usualLength(of source: String) -> Int64? { known(source)?.usualLength }

    /// Pauses the sources of which so little is opened that the rest of what is downloaded is worth several times as much.
    private mutating func pause() {
        let bytes = sources.values.reduce(0) { $0 + $1.recentBytes }
        guard bytes > 0 else { return }
        let worth =
            sources.values.reduce(0) { $0 + $1.recentBytes * $1.openRate / $1.meanBytes.squareRoot() } / bytes
        for (name, source) in sources where source.arrived >= Self.fewestToPause {
            sources[name]?.isPaused =
                source.openRate < Self.pause.openRate
                && source.openRate / source.meanBytes.squareRoot() < Self.pause.part * worth
        }
    }
}

import Foundation
import PrefetchCaching

/// The columns of a trace, by which its kind is told.
enum TraceKind: String, CaseIterable {
    /// Requests of a cache: a miss stores the item.
    case requests = "time,key,size"
    /// What arrived in a prefetch cache, and what the user opened.
    case prefetching = "time,event,key,source,size"
    /// What `cachectl events --json` prints, an object per line and without a header.
    case journal = "{"
}

/// One line of a trace. Keys and sources are whatever text stands between the commas.
enum TraceLine {
    case request(ItemKey, size: Int64)
    /// An item arrives. Times are milliseconds.
    case arrive(ItemKey, source: String, size: Int64, time: Int64)
    case open(ItemKey, time: Int64)
    /// A newer version took its place.
    case gone(ItemKey, time: Int64)
    case event(JournalLine)

    init(_ line: UnsafeRawBufferPointer, of kind: TraceKind) throws(TraceLineError) {
        let columns = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        switch kind {
        case .requests:
            guard columns.count == 3 else { throw .columns(3) }
            self = .request(try Self.key(columns[1]), size: try Self.size(columns[2]))
        case .prefetching:
            guard columns.count == 5 else { throw .columns(5) }
            let (time, key) = (try Self.time(columns[0]), try Self.key(columns[2]))
            switch try Self.text(columns[1]) {
            case "arrive":
                self = .arrive(
                    key, source: try Self.text(columns[3]), size: try Self.size(columns[4]), time: time)
            case "open": self = .open(key, time: time)
            case "gone": self = .gone(key, time: time)
            default: throw .event
            }
        case .journal:
            do {
                self = .event(try JSONDecoder().decode(JournalLine.self, from: Data(line)))
            } catch {
                throw .journal
            }
        }
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) throws(TraceLineError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    private static func key(_ bytes: Slice<UnsafeRawBufferPointer>) throws(TraceLineError) -> ItemKey {
        let text = try text(bytes)
        do {
            return try ItemKey(text)
        } catch {
            throw .key(error)
        }
    }

    /// Seconds, with decimals, in milliseconds.
    private static func time(_ bytes: Slice<UnsafeRawBufferPointer>) throws(TraceLineError) -> Int64 {
        guard let seconds = Double(try text(bytes)), seconds >= 0, seconds < 1e12 else { throw .time }
        return Int64((seconds * 1000).rounded())
    }

    private static func size(_ digits: Slice<UnsafeRawBufferPointer>) throws(TraceLineError) -> Int64 {
        guard let first = digits.first else { throw .noSize }
        if first == UInt8(ascii: "-") { throw .negativeSize }
        var size: Int64 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .sizeNoNumber }
            let (tenfold, isTooLarge) = size.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = tenfold.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !isTooLarge, !isTooLargeNow else { throw .sizeTooLarge }
            size = sum
        }
        return size
    }
}

/// What is wrong with a line.
enum TraceLineError: Error, CustomStringConvertible {
    case columns(Int)
    case noSize, negativeSize, sizeNoNumber, sizeTooLarge, notUTF8, time, event, journal
    case key(ItemKeyError)

    var description: String {
        switch self {
        case .columns(let count): "has not \(count == 3 ? "three" : "five") columns"
        case .noSize: "has no size"
        case .negativeSize: "has a negative size"
        case .sizeNoNumber: "has a size that is no whole number"
        case .sizeTooLarge: "has a size of more than \(Int64.max) bytes"
        case .notUTF8: "has a key that is not UTF-8"
        case .time: "has a time that is no number of seconds"
        case .event: "has an event that is none of arrive, open and gone"
        case .journal: "is no object of 'cachectl events --json'"
        case .key(let error): "has a key that cannot be (\(error))"
        }
    }
}

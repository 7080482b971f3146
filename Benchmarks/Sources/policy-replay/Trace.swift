import Contenders
import Foundation
import PrefetchCaching

/// One line of a trace. Keys and sources are whatever text stands between the commas.
enum TraceLine {
    case request(ItemKey, size: Int64)
    /// An item arrives. Times are milliseconds.
    case arrive(ItemKey, source: String, size: Int64, time: Int64)
    case open(ItemKey, time: Int64)
    /// A newer version took its place.
    case gone(ItemKey, time: Int64)
    case event(JournalLine)
}

/// A recorded trace, whose kind its header tells; a journal has none, and an object in each line.
struct Trace {
    private static let requests = "time,key,size"
    static let prefetching = "time,event,key,source,size"

    let isOfRequests: Bool
    let lines: [TraceLine]

    /// - Parameter path: `-` stands for standard input.
    /// - Throws: ``ContenderError``, with the number of the line that is at fault.
    init(_ path: String) throws {
        let file = path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
        var bytes = [UInt8](try file.readToEnd() ?? Data())
        // The last line may lack its line feed, and all may end as those of DOS do.
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0
        }
        let parse: (ArraySlice<UInt8>) throws -> TraceLine
        let isJournal = lines[0].first == UInt8(ascii: "{")
        isOfRequests = lines[0].elementsEqual(Self.requests.utf8)
        if isJournal {
            parse = { .event(try JSONDecoder().decode(JournalLine.self, from: Data($0))) }
        } else if isOfRequests {
            parse = Self.request
        } else if lines[0].elementsEqual(Self.prefetching.utf8) {
            parse = Self.prefetching
        } else {
            throw ContenderError(
                "line 1 is neither the header '\(Self.requests)' or '\(Self.prefetching)' nor an event of a "
                    + "journal: \(Self.quoted(lines[0]))")
        }
        self.lines = try lines.enumerated().dropFirst(isJournal ? 0 : 1).map { index, line in
            do {
                return try parse(line)
            } catch {
                let problem = isJournal ? "no object of 'cachectl events --json'" : "\(error)"
                throw ContenderError("line \(index + 1): \(problem): \(Self.quoted(line))")
            }
        }
    }

    private static func request(_ line: ArraySlice<UInt8>) throws -> TraceLine {
        let columns = try columns(line, 3)
        return .request(try ItemKey(columns[1]), size: try size(columns[2]))
    }

    private static func prefetching(_ line: ArraySlice<UInt8>) throws -> TraceLine {
        let columns = try columns(line, 5)
        guard let seconds = Double(columns[0]), seconds >= 0, seconds < 1e12 else {
            throw ContenderError("its time is no number of seconds")
        }
        let (time, key) = (Int64((seconds * 1000).rounded()), try ItemKey(columns[2]))
        switch columns[1] {
        case "arrive": return .arrive(key, source: columns[3], size: try size(columns[4]), time: time)
        case "open": return .open(key, time: time)
        case "gone": return .gone(key, time: time)
        default: throw ContenderError("its event is none of arrive, open and gone")
        }
    }

    private static func columns(_ line: ArraySlice<UInt8>, _ count: Int) throws -> [String] {
        let columns = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard columns.count == count else { throw ContenderError("it has not \(count) columns") }
        return try columns.map { column in
            guard let text = String(validating: column, as: UTF8.self) else {
                throw ContenderError("it is not UTF-8")
            }
            return text
        }
    }

    private static func size(_ digits: String) throws -> Int64 {
        guard let size = Int64(digits), size >= 0, digits.first != "+" else {
            throw ContenderError("its size is no number of bytes up to \(Int64.max)")
        }
        return size
    }

    /// A line as a terminal can bear it.
    private static func quoted(_ line: ArraySlice<UInt8>) -> String {
        let shown = line.prefix(60).map { (32..<127).contains($0) ? Character(Unicode.Scalar($0)) : "?" }
        return "'\(String(shown))\(line.count > 60 ? "…" : "")'"
    }
}

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
    /// - Throws: ``ReplayFailure``, with the number of the line that is at fault.
    init(_ path: String) throws {
        var bytes = try Self.decompressed(path)
        guard !bytes.isEmpty else {
            throw ReplayFailure(.damaged, "the trace is empty, without even a header")
        }
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
            throw ReplayFailure(
                .damaged,
                "line 1 is neither the header '\(Self.requests)' or '\(Self.prefetching)' nor an event of a "
                    + "journal: \(Self.quoted(lines[0]))")
        }
        self.lines = try lines.enumerated().dropFirst(isJournal ? 0 : 1).map { index, line in
            do {
                return try parse(line)
            } catch {
                let problem = isJournal ? "no object of 'cachectl events --json'" : "\(error)"
                throw ReplayFailure(.damaged, "line \(index + 1): \(problem): \(Self.quoted(line))")
            }
        }
    }

    /// By `gzip -f`, which passes on what is not compressed as it is.
    private static func decompressed(_ path: String) throws -> [UInt8] {
        let gzip = Process()
        let text = Pipe()
        gzip.executableURL = URL(filePath: "/usr/bin/env")
        gzip.arguments = ["gzip", "-dcf"]
        gzip.standardOutput = text
        if path != "-" {
            do {
                gzip.standardInput = try FileHandle(forReadingFrom: URL(filePath: path))
            } catch {
                throw ReplayFailure(.noInput, "\(path) cannot be read: \(error.localizedDescription)")
            }
        }
        do {
            try gzip.run()
        } catch {
            throw ReplayFailure(.noGzip, "gzip cannot be run: \(error.localizedDescription)")
        }
        let bytes = try text.fileHandleForReading.readToEnd() ?? Data()
        gzip.waitUntilExit()
        switch (gzip.terminationReason, gzip.terminationStatus) {
        case (.exit, 0): return [UInt8](bytes)
        // It has said what is wrong.
        case (.exit, let status) where status != 127:
            throw ReplayFailure(.damaged, "\(path == "-" ? "standard input" : path) is damaged or cut off")
        default: throw ReplayFailure(.noGzip, "gzip cannot be run, or was ended; is it installed?")
        }
    }

    private static func request(_ line: ArraySlice<UInt8>) throws -> TraceLine {
        let columns = try columns(line, 3)
        return .request(try ItemKey(columns[1]), size: try size(columns[2]))
    }

    private static func prefetching(_ line: ArraySlice<UInt8>) throws -> TraceLine {
        let columns = try columns(line, 5)
        guard let seconds = Double(columns[0]), seconds >= 0, seconds < 1e12 else {
            throw LineProblem("its time is no number of seconds")
        }
        let (time, key) = (Int64((seconds * 1000).rounded()), try ItemKey(columns[2]))
        switch columns[1] {
        case "arrive": return .arrive(key, source: columns[3], size: try size(columns[4]), time: time)
        case "open": return .open(key, time: time)
        case "gone": return .gone(key, time: time)
        default: throw LineProblem("its event is none of arrive, open and gone")
        }
    }

    private static func columns(_ line: ArraySlice<UInt8>, _ count: Int) throws -> [String] {
        let columns = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard columns.count == count else { throw LineProblem("it has not \(count) columns") }
        return try columns.map { column in
            guard let text = String(validating: column, as: UTF8.self) else {
                throw LineProblem("it is not UTF-8")
            }
            return text
        }
    }

    private static func size(_ digits: String) throws -> Int64 {
        guard let size = Int64(digits), size >= 0, digits.first != "+" else {
            throw LineProblem("its size is no number of bytes up to \(Int64.max)")
        }
        return size
    }

    /// A line as a terminal can bear it.
    private static func quoted(_ line: ArraySlice<UInt8>) -> String {
        let shown = line.prefix(60).map { (32..<127).contains($0) ? Character(Unicode.Scalar($0)) : "?" }
        return "'\(String(shown))\(line.count > 60 ? "…" : "")'"
    }
}

/// What is wrong with a line.
private struct LineProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Why a trace was not replayed: an exit code, and a line for people.
struct ReplayFailure: Error {
    /// In the vocabulary of `sysexits.h`; wrong usage is told by ArgumentParser, with 64.
    enum Code: Int32 {
        case damaged = 65
        case noInput = 66
        case noGzip = 69
        case inputOutput = 74
    }

    let code: Code
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

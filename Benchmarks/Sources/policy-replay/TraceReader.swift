import PrefetchCaching

/// Makes requests of the text of a trace, which comes in pieces.
struct TraceReader {
    /// Far above what a key, a time and a size can take: what is longer is no trace.
    private static let longestLine = 1 << 16

    private(set) var lines = 0
    /// Known from the header on.
    private(set) var kind: TraceKind?
    /// The beginning of a line whose end has not come yet.
    private var rest: [UInt8] = []

    /// - Throws: ``ReplayFailure`` with the number of the line that is at fault.
    mutating func read(
        _ piece: UnsafeRawBufferPointer, _ request: (TraceLine) throws -> Void
    ) throws {
        var piece = piece[...]
        while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
            let line = piece[..<end]
            piece = piece[(end + 1)...]
            if rest.isEmpty {
                try take(UnsafeRawBufferPointer(rebasing: line), request)
            } else {
                rest += line
                try takeRest(request)
            }
        }
        rest += piece
        guard rest.count <= Self.longestLine else {
            throw fault("is longer than \(Self.longestLine) bytes", line: lines + 1)
        }
    }

    /// The last line may lack its line feed.
    mutating func finish(_ request: (TraceLine) throws -> Void) throws {
        if !rest.isEmpty { try takeRest(request) }
        guard lines > 0 else { throw ReplayFailure(.damaged, "the trace is empty, without even a header") }
    }

    private mutating func takeRest(_ request: (TraceLine) throws -> Void) throws {
        let line = rest
        rest.removeAll(keepingCapacity: true)
        try line.withUnsafeBytes { try take($0, request) }
    }

    private mutating func take(
        _ line: UnsafeRawBufferPointer, _ request: (TraceLine) throws -> Void
    ) throws {
        lines += 1
        let isDOS = line.last == UInt8(ascii: "\r")
        let line = isDOS ? UnsafeRawBufferPointer(rebasing: line.dropLast()) : line
        if kind == nil {
            let isJournal = line.first == UInt8(ascii: "{")
            kind = isJournal ? .journal : TraceKind.allCases.first { line.elementsEqual($0.rawValue.utf8) }
            if kind != nil, !isJournal { return }
        }
        guard let kind else {
            let headers = [TraceKind.requests, .prefetching].map { "'\($0.rawValue)'" }
            throw fault(
                "is neither the header \(headers.joined(separator: " or ")) nor an event of a journal: "
                    + Self.quoted(line), line: 1)
        }
        do {
            try request(try TraceLine(line, of: kind))
        } catch let error as TraceLineError {
            throw fault("\(error.description): \(Self.quoted(line))", line: lines)
        }
    }

    private func fault(_ what: String, line: Int) -> ReplayFailure {
        ReplayFailure(.damaged, "line \(line) \(what)")
    }

    /// A line as a terminal can bear it.
    private static func quoted(_ line: UnsafeRawBufferPointer) -> String {
        let shown = line.prefix(60).map { (32..<127).contains($0) ? Character(Unicode.Scalar($0)) : "?" }
        return "'\(String(shown))\(line.count > 60 ? "…" : "")'"
    }
}

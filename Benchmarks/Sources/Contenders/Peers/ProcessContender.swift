import Foundation

/// A contender that is a program of its own, which does whole jobs and measures them itself.
///
/// It reads one JSON object per line and answers each by one, `{"nanoseconds": n}` or `{"error": "text"}`. `Performance` in
/// the documentation lists the requests; `diskcache_peer.py` is an example.
private final class ProcessContender: WholeJobs {
    private let child: Child
    private let directory: URL
    private let size: Int

    init(_ child: Child, in directory: URL, for workload: Workload) throws {
        self.child = child
        self.directory = directory
        size = workload.size
        // The child has all contents in memory before it measures, as everybody else does.
        let contents = directory.appending(path: "contents")
        try Data(workload.contents.joined()).write(to: contents)
        _ = try child.ask(
            Request(
                do: "open", folder: directory.path(percentEncoded: false),
                contents: contents.path(percentEncoded: false), size: size, count: workload.count))
    }

    func run(_ job: Job, for items: Range<Int>, of workload: Workload) throws -> Duration {
        try child.ask(Request(do: job.rawValue, from: items.lowerBound, to: items.upperBound))
    }

    func read(_ index: Int) throws -> Int {
        // The child has compared the length.
        _ = try child.ask(Request(do: "read", from: index, to: index + 1))
        return size
    }

    func promotedFile(_ index: Int) -> URL {
        directory.appending(path: "documents/\(Workload.finalName(index))")
    }

    func leave() throws { _ = try child.ask(Request(do: "close")) }
}

extension Entry {
    /// - Parameters:
    ///   - number: Tells its name from those of others.
    ///   - command: Is run by the shell, when it is needed first.
    public static func command(_ number: Int, _ command: String) -> Entry {
        process("contender \(number)", command, URL(filePath: "/bin/sh"), ["-c", command])
    }

    /// python-diskcache; `nil` when it is not installed in `Benchmarks/.venv`.
    static func diskCache() -> Entry? {
        let benchmarks = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let python = benchmarks.appending(path: ".venv/bin/python")
        let script = URL(filePath: #filePath).appending(path: "../diskcache_peer.py").standardized
        guard Child.runs(python, ["-c", "import diskcache"]) else { return nil }
        return process(
            "diskcache",
            """
            python-diskcache in a process that measures itself, default settings, size_limit 16 GiB; \
            evict: a deletion of each in one transaction
            """, python, [script.path(percentEncoded: false)])
    }

    private static func process(
        _ name: String, _ setup: String, _ program: URL, _ arguments: [String]
    ) -> Entry {
        // One process for all rounds.
        let child = Child(program, arguments)
        return Entry(name, setup) { try ProcessContender(child, in: $0, for: $1) }
    }
}

/// One line for the child; it is told what it needs for the job.
private struct Request: Encodable {
    let `do`: String
    var folder: String?
    var contents: String?
    var size: Int?
    var count: Int?
    var from: Int?
    var to: Int?
}

/// One line from the child.
private struct Answer: Decodable {
    let nanoseconds: Int64?
    let error: String?
}

/// A process that answers line by line, started when it is first asked. It ends with its input.
private final class Child {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending = Data()

    init(_ program: URL, _ arguments: [String]) {
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
    }

    deinit {
        do {
            try input.fileHandleForWriting.close()
        } catch {
            // Then it would not end by itself.
            process.terminate()
        }
        if process.isRunning { process.waitUntilExit() }
    }

    func ask(_ request: Request) throws -> Duration {
        if !process.isRunning {
            // A child that dies shall be an error, not the end of this program.
            signal(SIGPIPE, SIG_IGN)
            try process.run()
        }
        var line = try JSONEncoder().encode(request)
        line.append(UInt8(ascii: "\n"))
        try input.fileHandleForWriting.write(contentsOf: line)
        let answer = try JSONDecoder().decode(Answer.self, from: readLine())
        guard let nanoseconds = answer.nanoseconds else {
            throw ContenderError(answer.error ?? "no answer")
        }
        return .nanoseconds(nanoseconds)
    }

    private func readLine() throws -> Data {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending = Data(pending[(end + 1)...]) }
                return Data(pending[..<end])
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ContenderError("its process has ended") }
            pending += more
        }
    }

    /// Whether a program starts and does what `arguments` say.
    static func runs(_ program: URL, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

import Foundation

/// A contender that is a program of its own, which does whole jobs and measures them itself.
///
/// It reads one JSON object per line and answers each by one, `{"nanoseconds": n}` or `{"error": "text"}`. `Performance` in
/// the documentation lists the requests; `diskcache_peer.py` is an example.
private final class ProcessContender: Contender {
    private let child: Child
    private let directory: URL

    init(_ child: Child, in directory: URL, for workload: Workload) throws {
        self.child = child
        self.directory = directory
        // The child has all contents in memory before it measures, as everybody else does.
        let contents = directory.appending(path: "contents")
        try Data(workload.contents.joined()).write(to: contents)
        _ = try child.ask([
            "do": "open", "folder": directory.path(percentEncoded: false),
            "contents": contents.path(percentEncoded: false), "size": workload.size, "count": workload.count,
        ])
    }

    func run(_ job: Job, for items: Range<Int>, of workload: Workload) throws -> Duration {
        try child.ask(["do": job.rawValue, "from": items.lowerBound, "to": items.upperBound])
    }

    func promotedFile(_ index: Int) -> URL {
        directory.appending(path: "documents/\(Workload.finalName(index))")
    }

    func leave() throws { _ = try child.ask(["do": "close"]) }
}

extension Entry {
    /// - Parameters:
    ///   - number: Tells its name from those of others.
    ///   - command: Is run by the shell, when it is needed first.
    public static func command(_ number: Int, _ command: String) -> Entry {
        process("contender \(number)", command, URL(filePath: "/bin/sh"), ["-c", command])
    }

    /// python-diskcache; `nil` without `Benchmarks/.venv`, which `.ci/setup --peers` makes for it.
    static func diskCache() -> Entry? {
        let benchmarks = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let python = benchmarks.appending(path: ".venv/bin/python")
        let script = URL(filePath: #filePath).appending(path: "../diskcache_peer.py").standardized
        guard FileManager.default.isExecutableFile(atPath: python.path(percentEncoded: false)) else {
            return nil
        }
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

    func ask(_ request: [String: Any]) throws -> Duration {
        if !process.isRunning {
            // A child that dies shall be an error, not the end of this program.
            signal(SIGPIPE, SIG_IGN)
            try process.run()
        }
        var line = try JSONSerialization.data(withJSONObject: request, options: .sortedKeys)
        line.append(UInt8(ascii: "\n"))
        try input.fileHandleForWriting.write(contentsOf: line)
        let answer = try JSONSerialization.jsonObject(with: readLine()) as? [String: Any]
        guard let nanoseconds = answer?["nanoseconds"] as? Int else {
            throw ContenderError(answer?["error"] as? String ?? "no answer")
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
}

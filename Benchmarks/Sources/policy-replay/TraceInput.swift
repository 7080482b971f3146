import Foundation

/// The bytes of a trace, decompressed by `gzip` while they are read, so that no trace is too long.
///
/// `gzip -f` passes on what is not compressed as it is: a plain CSV takes the same way.
final class TraceInput {
    private static let chunk = 1 << 18

    private let name: String
    private let gzip = Process()
    private let text = Pipe()
    private let complaints = Pipe()

    /// - Parameter path: `-` stands for standard input.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        gzip.executableURL = URL(filePath: "/usr/bin/env")
        gzip.arguments = ["gzip", "-dcf"]
        gzip.standardInput = path == "-" ? FileHandle.standardInput : try Self.file(at: path)
        gzip.standardOutput = text
        gzip.standardError = complaints
        do {
            try gzip.run()
        } catch {
            throw ReplayFailure(.noGzip, "gzip cannot be run: \(error.localizedDescription)")
        }
    }

    private static func file(at path: String) throws -> FileHandle {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ReplayFailure(.noInput, "\(path): \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw ReplayFailure(.noInput, "\(path): this is a folder; name the file of a trace")
        }
        return file
    }

    /// Hands over the text piece by piece, to its end.
    ///
    /// - Throws: ``ReplayFailure`` when the end is not that of the trace.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
        defer { buffer.deallocate() }
        let descriptor = text.fileHandleForReading.fileDescriptor
        do {
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count != 0 else { break }
                if count > 0 {
                    try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                } else if errno != EINTR {
                    throw ReplayFailure(.inputOutput, "\(name): \(String(cString: strerror(errno)))")
                }
            }
        } catch {
            // It may be waiting for us to read on.
            gzip.terminate()
            gzip.waitUntilExit()
            throw error
        }
        try finish()
    }

    private func finish() throws {
        let complaint = try complaints.fileHandleForReading.readToEnd() ?? Data()
        gzip.waitUntilExit()
        guard gzip.terminationReason != .exit || gzip.terminationStatus != 0 else { return }
        guard gzip.terminationReason == .exit, gzip.terminationStatus != 127 else {
            throw ReplayFailure(.noGzip, "gzip cannot be run, or was ended; is it installed?")
        }
        let lines = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline)
        throw ReplayFailure(.damaged, "\(name) is damaged or cut off (\(lines.joined(separator: "; ")))")
    }
}

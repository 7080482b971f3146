import FileSystemTestSupport
import Foundation
import SystemPackage
import Testing

@testable import PrefetchItemFormat

#if os(Linux)
    import CPrefetchLZ4
#endif

/// What the reader of frames accepts.
@Suite struct LZ4FrameTests {
    private let content = Sample.text(1000)

    @Test(arguments: [1, 13, 1000, 64 << 10, 1 << 20])
    func aFrameIsReadAsItWasWritten(length: Int) {
        for content in [Sample.text(length), Sample.noise(length)] {
            #expect(areSame(decompressed(frame(of: content), length) ?? [], content))
        }
    }

    /// However much of the content is noise, and at every limit around the length of its frame.
    @Test func aTrialMakesTheWholeFrameOrNone() {
        for noise in stride(from: 0, through: 2000, by: 100) {
            let content = Sample.noise(noise) + Sample.text(2000 - noise)
            let whole = frame(of: content)
            let longest = content.count - content.count / 8
            for limit in [0, LZ4Frame.overhead, longest] + (whole.count - 20...whole.count + 20) {
                let isShort = whole.count <= limit && whole.count < content.count + LZ4Frame.overhead
                #expect(frame(of: content, atMost: limit) == (isShort ? whole : nil), "\(noise), \(limit)")
            }
        }
    }

    /// All but the block, whose content has a checksum of its own, and the frame's checksum of it, which is for others.
    @Test func everyBitAroundTheBlockCounts() {
        let intact = frame(of: content)
        let tail = intact.count - 8..<intact.count - 4
        for position in Array(0..<19) + Array(tail) {
            for bit in 0..<8 {
                var frame = intact
                frame[position] ^= 1 << UInt8(bit)
                #expect(decompressed(frame, content.count) == nil, "bit \(bit) of byte \(position)")
            }
        }
    }

    /// A later writer may name another.
    @Test func anyBlockSizeIsRead() {
        var frame = ItemFormatTests.frame(of: content)
        for size in UInt8(4)...7 {
            frame[5] = size << 4
            sealHeader(of: &frame)
            #expect(decompressed(frame, content.count) == content)
        }
    }

    @Test func aFrameThatClaimsAnotherLengthIsNotRead() {
        var frame = ItemFormatTests.frame(of: content)
        frame[6] -= 1
        sealHeader(of: &frame)
        #expect(decompressed(frame, content.count) == nil)
    }

    @Test func aFrameOfAnotherLengthIsNotRead() {
        let frame = ItemFormatTests.frame(of: content)
        for length in [0, 1, content.count - 1, content.count + 1, 2 * content.count] {
            #expect(decompressed(frame, length) == nil)
        }
        for count in 0..<frame.count {
            #expect(decompressed(Array(frame.prefix(count)), content.count) == nil)
        }
        #expect(decompressed(frame + [0], content.count) == nil)
        #expect(decompressed(frame + frame, content.count) == nil)
    }

    /// The block of a frame that is stored uncompressed has to be as long as the content.
    @Test func aStoredBlockOfAnotherLengthIsNotRead() {
        let noise = Sample.noise(1000)
        var frame = ItemFormatTests.frame(of: noise)
        #expect(frame.count == noise.count + LZ4Frame.overhead)
        frame.remove(at: 500)
        frame[15] -= 1
        #expect(decompressed(frame, noise.count) == nil)
    }

    /// Makes the checksum of the header right again.
    private func sealHeader(of frame: inout [UInt8]) {
        frame[14] = frame.withUnsafeBytes { bytes in
            UInt8(truncatingIfNeeded: Checksum.xxh32(UnsafeRawBufferPointer(rebasing: bytes[4..<14])) >> 8)
        }
    }

    /// `nil` when the frame is not read. Fails the test when anything is written beyond `length`.
    private func decompressed(_ frame: [UInt8], _ length: Int) -> [UInt8]? {
        var output = [UInt8](repeating: 0xA5, count: length + 64)
        let isRead = frame.withUnsafeBytes { frame in
            output.withUnsafeMutableBytes { output in
                LZ4Frame.decompress(frame, into: UnsafeMutableRawBufferPointer(rebasing: output[..<length]))
            }
        }
        #expect(output[length...].allSatisfy { $0 == 0xA5 })
        return isRead ? Array(output.prefix(length)) : nil
    }
}

/// The frame of a content.
func frame(of content: [UInt8]) -> [UInt8] {
    // No frame is longer than the content and what goes around it.
    frame(of: content, atMost: .max) ?? []
}

/// `nil` when it would be longer.
func frame(of content: [UInt8], atMost limit: Int) -> [UInt8]? {
    var frame = [UInt8](repeating: 0, count: content.count + LZ4Frame.overhead)
    let compressor = LZ4Compressor()
    let length = content.withUnsafeBytes { content in
        frame.withUnsafeMutableBytes { frame in
            limit == .max
                ? compressor.compress(content, into: frame)
                : compressor.compress(content, into: frame, atMost: limit)
        }
    }
    return length.map { Array(frame.prefix($0)) }
}

#if os(Linux)
    /// The frames that this package writes are those of liblz4, byte for byte.
    @Suite struct StandardFrameTests {
        @Test func aFrameIsWhatTheFrameLibraryWrites() {
            var generator = SeededGenerator(seed: 7)
            let edges = [1, 2, 64 << 10, (64 << 10) + 1, 256 << 10, (256 << 10) + 1, 1 << 20]
            let lengths = edges + (0..<60).map { _ in Int.random(in: 1...200_000, using: &generator) }
            for (seed, length) in lengths.enumerated() {
                for content in [
                    Sample.text(length, seed: UInt64(seed)), Sample.noise(length, seed: UInt64(seed)),
                ] {
                    #expect(areSame(frame(of: content), theirs(content)), "length \(length)")
                }
            }
        }

        private func theirs(_ content: [UInt8]) -> [UInt8] {
            var preferences = LZ4F_preferences_t()
            preferences.frameInfo.blockSizeID = LZ4F_max1MB
            preferences.frameInfo.blockMode = LZ4F_blockIndependent
            preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled
            preferences.frameInfo.contentSize = UInt64(content.count)
            preferences.autoFlush = 1
            var frame = [UInt8](repeating: 0, count: LZ4F_compressFrameBound(content.count, &preferences))
            let length = LZ4F_compressFrame(&frame, frame.count, content, content.count, &preferences)
            return Array(frame.prefix(length))
        }
    }
#endif

/// An LZ4 item needs no code of ours to be checked and printed.
@Suite(.enabled(if: LZ4Command.isInstalled, "There is no lz4 command on this machine."))
struct LZ4CommandTests {
    @Test(arguments: [0, 1, 16 << 10, 7 * Sample.mebibyte / 2], [true, false])
    func lz4PrintsTheOriginal(length: Int, isText: Bool) throws {
        let content = isText ? Sample.text(length) : Sample.noise(length)
        try withItemFile { file in
            try file.write(content, .full, encoding: .forced(.lz4))
            let outcome = try LZ4Command.run("-dc", file.path.string)
            #expect(outcome.status == 0)
            #expect(areSame(outcome.output, content))
        }
    }

    /// Negative control: a command that accepted anything would pass the test above.
    @Test func lz4TellsADamagedItemFromAnother() throws {
        try withItemFile { file in
            try file.write(Sample.text(16 << 10), .full, encoding: .forced(.lz4))
            #expect(try LZ4Command.run("-t", file.path.string).status == 0)
            var image = try file.image()
            image[100] ^= 1
            try file.replace(with: image)
            #expect(try LZ4Command.run("-t", file.path.string).status != 0)
        }
    }
}

/// The `lz4` command, another implementation's reader of the same frames.
private enum LZ4Command {
    private static let url = ProcessInfo.processInfo.environment["PATH", default: ""]
        .split(separator: ":").map { URL(filePath: "\($0)/lz4") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }

    static let isInstalled = url != nil

    struct Outcome {
        let status: Int32
        let output: [UInt8]
    }

    static func run(_ arguments: String...) throws -> Outcome {
        // A file takes any amount of output; a pipe would have to be emptied meanwhile.
        let output = URL(filePath: NSTemporaryDirectory()).appending(path: "lz4-\(UUID().uuidString)")
        try Data().write(to: output)
        defer {
            do {
                try FileManager.default.removeItem(at: output)
            } catch {
                print("left behind: \(error)")
            }
        }
        let handle = try FileHandle(forWritingTo: output)
        let process = ChildProcess()
        process.executableURL = url
        process.arguments = arguments
        process.standardOutput = handle
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try handle.close()
        return Outcome(status: process.terminationStatus, output: [UInt8](try Data(contentsOf: output)))
    }
}

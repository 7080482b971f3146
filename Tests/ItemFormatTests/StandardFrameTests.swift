import FileSystemTestSupport
import Testing

@testable import PrefetchItemFormat

#if os(Linux)
    import CPrefetchLZ4

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
                    #expect(areSame(ours(content), theirs(content)), "length \(length)")
                }
            }
        }

        private func ours(_ content: [UInt8]) -> [UInt8] {
            var frame = [UInt8](repeating: 0, count: content.count + LZ4Frame.overhead)
            let compressor = LZ4Compressor()
            let length = content.withUnsafeBytes { content in
                frame.withUnsafeMutableBytes { compressor.compress(content, into: $0) }
            }
            return Array(frame.prefix(length))
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

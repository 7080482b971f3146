import FileSystemTestSupport
import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

/// Footers with random bytes in random places and a checksum that is right for them: the checks
/// behind the checksum must hold on their own.
@Suite struct RandomFooterTests {
    @Test(arguments: GoldenItem.all)
    func aRandomFooterNeverCrashesTheReaderNorChangesTheContent(golden: GoldenItem) throws {
        let image = try golden.image()
        let footer = try read(image).footer
        let footerLength = image.count - footer.chunks.reduce(0) { $0 + Int($1.storedBytes) }
        let start = image.count - footerLength
        // The checksum and the magic number behind it stay out of it.
        let end = image.count - 16
        var generator = SeededGenerator(seed: 7)
        var misses = 0

        try withItemFile { file in
            for _ in 0..<1000 {
                var image = image
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    image[Int.random(in: start..<end, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                }
                let checksum = image[start..<end].withUnsafeBytes(Checksum.of)
                image.replaceSubrange(end..<end + 8, with: littleEndian(checksum))
                try file.replace(with: image)
                if try file.failure() == nil {
                    #expect(try areSame(file.read().content, golden.content))
                } else {
                    misses += 1
                }
            }
        }
        #expect((1..<1000).contains(misses), "some changes are harmless, such as another time; most are not")
    }
}

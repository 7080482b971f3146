import PrefetchItemFormat
import SystemPackage
import Testing

/// An LZ4 item needs no code of ours to be checked and printed.
@Suite(.enabled(if: LZ4Command.isInstalled, "There is no lz4 command on this machine."))
struct LZ4CommandTests {
    static let lengths = [0, 1, 16 << 10, Sample.mebibyte, 7 * Sample.mebibyte / 2]

    @Test(arguments: lengths)
    func lz4AcceptsAnItem(length: Int) throws {
        try withItemFile { file in
            try file.write(Sample.text(length), .full, encoding: .forced(.lz4))
            #expect(try LZ4Command.run("-t", file.path.string).status == 0)
        }
    }

    @Test(arguments: lengths)
    func lz4PrintsTheOriginal(length: Int) throws {
        let content = Sample.text(length)
        try withItemFile { file in
            try file.write(content, .full, encoding: .forced(.lz4))
            let outcome = try LZ4Command.run("-dc", file.path.string)
            #expect(outcome.status == 0)
            #expect(areSame(outcome.output, content))
        }
    }

    @Test func lz4PrintsWhatDoesNotCompress() throws {
        let content = Sample.noise(3 * Sample.mebibyte)
        try withItemFile { file in
            try file.write(content, .full, encoding: .forced(.lz4))
            #expect(try areSame(LZ4Command.run("-dc", file.path.string).output, content))
        }
    }

    /// Negative control: a command that accepted anything would pass the tests above.
    @Test func lz4RefusesADamagedItem() throws {
        try withItemFile { file in
            try file.write(Sample.text(16 << 10), .full, encoding: .forced(.lz4))
            var image = try file.image()
            image[100] ^= 1
            try file.replace(with: image)
            #expect(try LZ4Command.run("-t", file.path.string).status != 0)
        }
    }
}

import PrefetchItemFormat
import Testing

/// How content is cut on its way in must not show in the file.
@Suite struct PiecesTests {
    private let content = Sample.text(7 * Sample.mebibyte / 2)

    @Test(arguments: [
        [1, 7, 4095, 65_537, 300_001], [Sample.mebibyte - 1, 2], [Sample.mebibyte], [1_500_000],
        [3 * Sample.mebibyte, 0, 1],
    ])
    func piecesOfAnySizeMakeTheSameFile(sizes: [Int]) throws {
        let whole = try image(of: content, .plain())
        let pieced = try withItemFile { file in
            let writer = try file.writer(.plain(), parallelism: 2)
            var done = 0
            var turn = 0
            while done < content.count {
                let end = min(done + sizes[turn % sizes.count], content.count)
                try content[done..<end].withUnsafeBytes { try writer.append($0) }
                done = end
                turn += 1
                #expect(writer.contentBytes == Int64(done))
            }
            _ = try writer.finish()
            #expect(writer.contentBytes == Int64(content.count))
            return try file.image()
        }
        #expect(areSame(pieced, whole))
    }

    @Test(arguments: [EncodingChoice.automatic, .forced(.lz4), .forced(.identity)])
    func parallelismDoesNotShowInTheFile(choice: EncodingChoice) throws {
        let one = try image(of: content, .plain(), encoding: choice, parallelism: 1)
        let four = try image(of: content, .plain(), encoding: choice, parallelism: 4)
        #expect(areSame(one, four))
    }

    @Test func theLengthIsRightWhenTheEndWasHeldBack() throws {
        try withItemFile { file in
            let writer = try file.writer(.plain())
            try [UInt8](repeating: 1, count: 100).withUnsafeBytes { try writer.append($0) }
            #expect(try writer.finish().contentBytes == 100)
            #expect(writer.contentBytes == 100)
        }
    }
}

import PrefetchItemFormat
import Testing

/// The writer asks before each write.
@Suite struct AdmissionTests {
    private struct NotAdmitted: Error {}

    static let samples: [(length: Int, choice: EncodingChoice)] = [
        (0, .automatic), (1000, .automatic), (1000, .forced(.identity)), (200_000, .forced(.identity)),
        (7 * Sample.mebibyte / 2, .forced(.lz4)), (7 * Sample.mebibyte / 2, .forced(.identity)),
    ]

    @Test(arguments: samples)
    func everyWriteIsAdmittedWithTheLengthItLeadsTo(length: Int, choice: EncodingChoice) throws {
        try withItemFile { file in
            var admitted: [Int64] = []
            let writer = try file.writer(.full, encoding: choice, parallelism: 2) { length in
                // One answer, one write.
                #expect(file.fileSystem.calls.count == admitted.count)
                admitted.append(length)
            }
            let summary = try Sample.text(length).withUnsafeBytes { try writer.finish(appending: $0) }

            let ends = file.fileSystem.calls.map { call -> Int64? in
                guard case .write(let offset, let length) = call else { return nil }
                return offset + Int64(length)
            }
            #expect(ends == admitted)
            #expect(admitted.last == summary.storedBytes)
        }
    }

    @Test(arguments: samples)
    func nothingIsWrittenThatWasNotAdmitted(length: Int, choice: EncodingChoice) throws {
        try withItemFile { file in
            let writer = try file.writer(.full, encoding: choice) { _ in throw NotAdmitted() }
            #expect(throws: NotAdmitted.self) {
                try Sample.text(length).withUnsafeBytes { _ = try writer.finish(appending: $0) }
            }
            #expect(file.fileSystem.calls.isEmpty)
        }
    }

    @Test(arguments: [EncodingChoice.forced(.lz4), .forced(.identity)])
    func theFileStaysWithinWhatWasAdmitted(choice: EncodingChoice) throws {
        let budget = Int64(1_200_000)
        try withItemFile { file in
            let writer = try file.writer(.full, encoding: choice, parallelism: 4) {
                length in
                if length > budget { throw NotAdmitted() }
            }
            #expect(throws: NotAdmitted.self) {
                try Sample.noise(3 * Sample.mebibyte).withUnsafeBytes { try writer.append($0) }
            }
            let length = try file.image().count
            #expect(length > 0)
            #expect(length <= budget)
        }
    }
}

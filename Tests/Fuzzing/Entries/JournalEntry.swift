import FileSystemTestSupport
import PrefetchFileSystem

@testable import PrefetchItemFormat

/// The journal beside a kept partial.
func fuzzJournal(_ input: [UInt8]) throws {
    let bytes = Seal.wished(input, Seal.journal)
    let file = MemoryFile(bytes)
    var journal: PartialJournal
    do {
        journal = try PartialJournal(of: MemoryFile.descriptor, in: file)
    } catch .damaged, .newerVersion {
        return
    } catch {
        throw BrokenProperty(description: "a journal is damaged or newer, not: \(error)")
    }
    try require(try PartialHead(of: MemoryFile.descriptor, in: file)?.version == 1, "it is of version 1")
    try require(journal.length <= Int64(bytes.count), "its records lie in the file")
    try require(journal.expectedLength ?? 0 >= 0, "the expected length is none or a length")
    try require(
        journal.chunks.allSatisfy { $0.storedBytes <= 1_048_576 + 27 }, "no chunk is longer than its frame")
    try require(journal.storedBytes >= 0 && journal.contentBytes >= 0, "the lengths do not overflow")

    let copy = MemoryFile()
    var written = PartialJournal(
        metadata: journal.metadata, encoding: journal.encoding, expectedLength: journal.expectedLength,
        generation: journal.generation)
    try written.begin(MemoryFile.descriptor, in: copy, writer: 1, keptAt: 2)
    try written.append(journal.chunks[...], to: MemoryFile.descriptor, in: copy)
    let again = try PartialJournal(of: MemoryFile.descriptor, in: copy)
    try require(
        again.chunks == journal.chunks && again.generation == journal.generation, "it can be written again")

    let half = journal.storedBytes / 2
    journal.cut(toStoredLength: half)
    try require(journal.storedBytes <= half, "what is cut fits")
}

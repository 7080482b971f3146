internal import FileSystem
internal import ItemFormat

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension Data {
    /// `range` of an item's content.
    init(reading range: Range<Int64>, of reader: ItemReader) throws(ItemFormatError) {
        guard range.lowerBound >= 0, range.upperBound <= reader.footer.contentLength else {
            throw .rangeOutOfBounds(range, contentLength: reader.footer.contentLength)
        }
        self = try .filled(range.count) { buffer throws(ItemFormatError) in
            try reader.read(range, into: buffer)
            return range.count
        }
    }

    /// `range` of a file, or what there is of it.
    init(reading range: Range<Int64>, of file: Descriptor, in fileSystem: any FileSystem)
        throws(FileSystemError)
    {
        self = try .filled(range.count) { buffer throws(FileSystemError) in
            try fileSystem.readAll(file, into: buffer, at: range.lowerBound)
        }
    }

    /// Bytes that `body` puts into fresh memory, which is neither zeroed before nor copied after.
    private static func filled<Failure: Error>(
        _ count: Int, by body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0, let memory = malloc(count) else {
            precondition(count == 0, "out of memory")
            return Data()
        }
        do {
            let filled = try body(UnsafeMutableRawBufferPointer(start: memory, count: count))
            return Data(bytesNoCopy: memory, count: filled, deallocator: .free)
        } catch {
            free(memory)
            throw error
        }
    }
}

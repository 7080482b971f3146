internal import FileSystem
internal import ItemFormat
internal import SystemPackage

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
    /// Reads a range of an item's content.
    init(reading range: Range<Int64>, of reader: ItemReader) throws(ItemFormatError) {
        guard range.lowerBound >= 0, range.upperBound <= reader.footer.contentLength else {
            throw .rangeOutOfBounds(range, contentLength: reader.footer.contentLength)
        }
        self = try .filled(range.count, orThrow: .fileSystem(Self.noMemory)) {
            buffer throws(ItemFormatError) in
            try reader.read(range, into: buffer)
            return range.count
        }
    }

    /// Reads a range of a file, or the part of it that exists.
    init(reading range: Range<Int64>, of file: Descriptor, in fileSystem: any FileSystem)
        throws(FileSystemError)
    {
        self = try .filled(range.count, orThrow: Self.noMemory) { buffer throws(FileSystemError) in
            try fileSystem.readAll(file, into: buffer, at: range.lowerBound)
        }
    }

    private static let noMemory = FileSystemError("malloc", errno: .noMemory)

    /// Lets `body` fill fresh memory, which is neither zeroed before nor copied after.
    ///
    /// - Parameter noMemory: Thrown when there is not enough memory: an item can be longer than that.
    private static func filled<Failure: Error>(
        _ count: Int, orThrow noMemory: Failure,
        by body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0 else { return Data() }
        guard let memory = malloc(count) else { throw noMemory }
        do {
            let filled = try body(UnsafeMutableRawBufferPointer(start: memory, count: count))
            return Data(bytesNoCopy: memory, count: filled, deallocator: .free)
        } catch {
            free(memory)
            throw error
        }
    }
}

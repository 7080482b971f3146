import PrefetchFileSystem
import PrefetchItemFormat
import SystemPackage
import Testing

/// What the volume says is passed on; it is never taken for a damaged item.
@Suite struct FileSystemErrorTests {
    @Test(arguments: [1000, 3 * Sample.mebibyte])
    func aFullVolumeIsReportedByTheWriter(length: Int) throws {
        try withItemFile { file in
            file.fileSystem.fail(with: .noSpace)
            #expect(throws: ItemFormatError.fileSystem(FileSystemError("write", errno: .noSpace))) {
                try file.write(Sample.text(length), .plain())
            }
        }
    }

    @Test func anInputOutputErrorIsReportedByTheOpeningReader() throws {
        try withItemFile { file in
            try file.write(Sample.text(1000), .plain())
            file.fileSystem.fail(with: .ioError)
            #expect(throws: ItemFormatError.fileSystem(FileSystemError("read", errno: .ioError))) {
                try file.reader()
            }
        }
    }

    @Test func anInputOutputErrorIsReportedByALaterRead() throws {
        try withItemFile { file in
            try file.write(Sample.noise(Sample.mebibyte), .plain())
            let reader = try file.reader()
            file.fileSystem.fail(with: .ioError)
            #expect(throws: ItemFormatError.fileSystem(FileSystemError("read", errno: .ioError))) {
                try reader.bytes(0..<10)
            }
        }
    }
}

import FileSystemTestSupport

#if !canImport(Darwin)
    import PrefetchFileSystem
    import Synchronization
    import SystemPackage
    import Testing

    @testable import PrefetchStorageAreas

    /// Linux: two marks, of which a file system may have one, both or none.
    @Suite struct BackupMarkSupportTests {
        static let unsupported: [Errno] = [
            .notSupported, .notSupportedOnSocket, .inappropriateIOCTLForDevice, .invalidArgument,
        ]
        private let file = Descriptor(rawValue: 9)

        @Test func bothMarksArePutOnAndTakenOff() throws {
            let marks = MarkFileSystem()
            let mark = BackupMark(fileSystem: marks)
            try mark.set(.exclude, on: file)
            #expect(marks.state == .init(flag: true, attribute: Array("false".utf8), writes: 2))
            try mark.set(.include, on: file)
            #expect(marks.state == .init(flag: false, attribute: nil, writes: 4))
        }

        @Test func theAttributeHasTheNameOfTheSpecification() {
            #expect(BackupMark.attribute == "user.xdg.robots.backup")
        }

        @Test func includingAFileWithoutAMarkWritesNothing() throws {
            let marks = MarkFileSystem()
            try BackupMark(fileSystem: marks).set(.include, on: file)
            #expect(marks.state.writes == 0)
        }

        @Test func eitherMarkExcludes() throws {
            let flagged = MarkFileSystem(.init(flag: true))
            let attributed = MarkFileSystem(.init(attribute: Array("false".utf8)))
            for marks in [flagged, attributed] {
                let mark = BackupMark(fileSystem: marks)
                #expect(try mark.policy(of: file) == .exclude)
                try mark.set(.include, on: file)
                #expect(try mark.policy(of: file) == .include)
                #expect(marks.state.writes == 1)
            }
        }

        @Test(arguments: ["true", "", "FALSE", "false\n"])
        func anotherValueOfTheAttributeIsNoMarkAndStays(_ value: String) throws {
            let marks = MarkFileSystem(.init(attribute: Array(value.utf8)))
            let mark = BackupMark(fileSystem: marks)
            #expect(try mark.policy(of: file) == .include)
            try mark.set(.include, on: file)
            #expect(marks.state.writes == 0)
        }

        @Test(arguments: unsupported)
        func oneMarkIsEnough(_ errno: Errno) throws {
            for marks in [MarkFileSystem(flagError: errno), MarkFileSystem(attributeError: errno)] {
                let mark = BackupMark(fileSystem: marks)
                try mark.set(.exclude, on: file)
                #expect(try mark.policy(of: file) == .exclude)
                try mark.set(.include, on: file)
                #expect(try mark.policy(of: file) == .include)
            }
        }

        @Test(arguments: unsupported)
        func withoutAPlaceForAnyMarkAFileCannotBeExcludedButIsIncluded(_ errno: Errno) throws {
            let mark = BackupMark(fileSystem: MarkFileSystem(flagError: errno, attributeError: errno))
            #expect(throws: FileSystemError("attribute", errno: errno)) { try mark.set(.exclude, on: file) }
            try mark.set(.include, on: file)
            #expect(try mark.policy(of: file) == .include)
        }

        @Test(arguments: [Errno.ioError, .notPermitted, .noSpace, .readOnlyFileSystem])
        func anyOtherErrorIsReported(_ errno: Errno) {
            for marks in [MarkFileSystem(flagError: errno), MarkFileSystem(attributeError: errno)] {
                let mark = BackupMark(fileSystem: marks)
                #expect(throws: FileSystemError.self) { try mark.set(.exclude, on: file) }
                #expect(throws: FileSystemError.self) { try mark.set(.include, on: file) }
                #expect(throws: FileSystemError.self) { try mark.policy(of: file) }
            }
        }

        @Test(
            .enabled(if: Volume.hasNoDumpAndAttributes, "the temporary folder's file system lacks a mark"))
        func aRealFileGetsBothMarks() throws {
            let folder = try TemporaryFolder()
            let mark = BackupMark(fileSystem: live)
            try mark.set(.exclude, on: folder.descriptor)
            #expect(try live.isNoDump(folder.descriptor))
            #expect(
                try live.extendedAttribute(BackupMark.attribute, of: folder.descriptor) == Array("false".utf8)
            )
            try mark.set(.include, on: folder.descriptor)
            #expect(try live.isNoDump(folder.descriptor) == false)
            #expect(try live.extendedAttribute(BackupMark.attribute, of: folder.descriptor) == nil)
        }

        @Test func aRealFileSystemWithoutMarksIsUnderstood() throws {
            let file = try live.open("/proc/self/comm", in: .workingDirectory, .readWrite)
            defer { live.close(file) }
            let mark = BackupMark(fileSystem: live)
            #expect(throws: FileSystemError("fsetxattr", errno: .notSupported)) {
                try mark.set(.exclude, on: file)
            }
            try mark.set(.include, on: file)
            #expect(try mark.policy(of: file) == .include)
        }
    }

    /// One file with its two marks, each of which may fail; counts what is written.
    private final class MarkFileSystem: UnimplementedFileSystem {
        struct State: Equatable {
            var flag = false
            var attribute: [UInt8]?
            var writes = 0
        }

        private let flagError: Errno?
        private let attributeError: Errno?
        private let marks: Mutex<State>

        init(_ state: State = State(), flagError: Errno? = nil, attributeError: Errno? = nil) {
            marks = Mutex(state)
            self.flagError = flagError
            self.attributeError = attributeError
        }

        var state: State { marks.withLock { $0 } }

        func isNoDump(_: Descriptor) throws(FileSystemError) -> Bool {
            if let flagError { throw FileSystemError("flag", errno: flagError) }
            return state.flag
        }

        func setNoDump(_ enabled: Bool, of _: Descriptor) throws(FileSystemError) {
            if let flagError { throw FileSystemError("flag", errno: flagError) }
            marks.withLock {
                $0.flag = enabled
                $0.writes += 1
            }
        }

        func extendedAttribute(_ name: String, of _: Descriptor) throws(FileSystemError) -> [UInt8]? {
            if let attributeError { throw FileSystemError("attribute", errno: attributeError) }
            return name == BackupMark.attribute ? state.attribute : nil
        }

        func setExtendedAttribute(_ name: String, to value: [UInt8]?, of _: Descriptor)
            throws(FileSystemError)
        {
            if let attributeError { throw FileSystemError("attribute", errno: attributeError) }
            marks.withLock {
                if name == BackupMark.attribute { $0.attribute = value }
                $0.writes += 1
            }
        }
    }
#endif

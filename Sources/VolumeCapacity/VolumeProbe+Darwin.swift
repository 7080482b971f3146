// tvOS and watchOS do not have these values.
#if canImport(Darwin) && !os(tvOS) && !os(watchOS)
    internal import Darwin
    internal import FileSystem
    internal import Foundation

    /// - Note: Not yet run on an Apple platform.
    extension VolumeProbe {
        /// The room that the system reports for the volume of an open file or folder; `nil` when it reports none.
        ///
        /// Only descriptors of the live file system mean anything to the system; others are not asked about.
        /// The path (`fcntl` `F_GETPATH`) is used at once and not kept.
        func reportedCapacity(of file: Descriptor) -> ReportedCapacity? {
            guard fileSystem is LiveFileSystem, let path = Self.path(of: file) else { return nil }
            do {
                let values = try URL(fileURLWithPath: path).resourceValues(forKeys: [
                    .volumeAvailableCapacityForImportantUsageKey,
                    .volumeAvailableCapacityForOpportunisticUsageKey,
                ])
                return ReportedCapacity(
                    important: values.volumeAvailableCapacityForImportantUsage,
                    opportunistic: values.volumeAvailableCapacityForOpportunisticUsage)
            } catch {
                // `statvfs` has answered, so the volume exists; these values are optional.
                return nil
            }
        }

        private static func path(of file: Descriptor) -> String? {
            var buffer = [UInt8](repeating: 0, count: Int(MAXPATHLEN))
            let result = buffer.withUnsafeMutableBytes { bytes -> CInt in
                guard let start = bytes.baseAddress else { return -1 }
                return fcntl(file.rawValue, F_GETPATH, start)
            }
            return result == -1 ? nil : String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
#endif

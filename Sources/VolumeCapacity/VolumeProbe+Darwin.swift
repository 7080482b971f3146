// tvOS and watchOS have none of these values.
#if canImport(Darwin) && !os(tvOS) && !os(watchOS)
    internal import Darwin
    internal import FileSystem
    internal import Foundation

    /// - Note: This was not run on an Apple platform yet.
    extension VolumeProbe {
        /// What the system says about the volume of an open file or folder; `nil` when it does not say.
        ///
        /// Only the live file system's descriptors mean anything to it; another one's are not asked about.
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
                // `statvfs` has answered, so the volume is there; these values are a bonus.
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

package import Foundation

extension Process {
    /// Runs the process.
    ///
    /// `Process.run` of Foundation on Linux copies the entries of `/proc/self/fd` as whole `dirent`s, though the kernel
    /// writes shorter ones, and so reads past the end of the buffer of `opendir`: a crash where that is the end of a heap.
    /// A buffer with a mapping of its own has room behind the entries.
    package func start() throws {
        #if canImport(Glibc)
            _ = Self.mapsBuffersOfFolders
        #endif
        try run()
    }

    #if canImport(Glibc)
        /// `opendir` takes 32 KiB; -3 is `M_MMAP_THRESHOLD`.
        private static let mapsBuffersOfFolders = mallopt(-3, 32 << 10) == 1
    #endif
}

#if canImport(Glibc)
    /// Not in the overlay's module map.
    @_silgen_name("mallopt")
    private func mallopt(_ parameter: CInt, _ value: CInt) -> CInt
#endif

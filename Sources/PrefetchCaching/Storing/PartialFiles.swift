internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The files of kept partials in `incoming/`: the chunks, `<hash>`, and their journal, `<hash>.chunks`, whose lock
/// covers both.
///
/// A process that begins, resumes or removes a partial holds the exclusive `flock` of its journal. A writer also
/// records its session there: together with the lock of the session, this shows others that the bytes are covered by
/// that process's allowance.
struct PartialFiles: Sendable {
    let incoming: Directory

    private var fileSystem: any FileSystem { incoming.fileSystem }

    /// The state of the files under a hash.
    enum State {
        case absent
        /// A living process is writing it.
        case held(session: String)
        /// It is not being written. The chunks take this many bytes, 0 when only the journal is left.
        case kept(storedBytes: Int64)
    }

    /// Takes the lock of a partial, without waiting. A partial whose journal has a second hard link is removed, since
    /// writes would be visible through both.
    ///
    /// - Parameter creating: Whether to create the journal when there is none.
    func lock(_ hash: KeyHash, creating: Bool = false) throws(FileSystemError) -> LockFile.Attempt {
        let mode: OpenMode = creating ? .createIfMissing(CacheLayout.filePermissions) : .readWrite
        while true {
            do {
                return try LockFile.lock(CacheLayout.journal(of: hash), in: incoming, mode)
            } catch {
                guard error.isHardLinked else { throw error }
                try unlink(hash)
            }
        }
    }

    /// Removes a partial, complete or not, unless its lock is held or a newer version keeps it.
    func remove(_ hash: KeyHash) throws(FileSystemError) -> Removal {
        var locking = try lock(hash)
        if case .absent = locking {
            // Chunks without a journal are useless. Creating the journal prevents others from doing so meanwhile.
            guard try lengthOfChunks(hash) != nil else { return .gone }
            locking = try lock(hash, creating: true)
        }
        switch locking {
        case .absent: return .gone
        case .busy: return .leased
        case .locked(let journal):
            defer { fileSystem.unlock(journal) }
            if let head = try PartialHead(of: journal, in: fileSystem), head.version > PartialJournal.version
            {
                return .leased
            }
            try unlink(hash)
            return .removed
        }
    }

    /// Removes the files of a partial whose lock is held: the journal, which is the lock file, last.
    func unlink(_ hash: KeyHash) throws(FileSystemError) {
        try unlink(CacheLayout.keptPartial(of: hash))
        try unlink(CacheLayout.journal(of: hash))
    }

    func unlink(_ name: FilePath) throws(FileSystemError) {
        try fileSystem.unlinkIfPresent(name, in: incoming.descriptor)
    }

    /// The length of the file of the chunks in bytes, or `nil` when there is none.
    func lengthOfChunks(_ hash: KeyHash) throws(FileSystemError) -> Int64? {
        let attributes = try fileSystem.attributes(
            of: CacheLayout.keptPartial(of: hash), in: incoming.descriptor)
        return attributes?.kind == .regular ? attributes?.length : nil
    }

    func state(of hash: KeyHash) throws(FileSystemError) -> State {
        let length = try lengthOfChunks(hash)
        guard let journal = try openJournal(hash) else {
            return length.map { .kept(storedBytes: $0) } ?? .absent
        }
        defer { fileSystem.close(journal) }
        if let head = try PartialHead(of: journal, in: fileSystem), let session = try livingWriter(head) {
            return .held(session: session)
        }
        return .kept(storedBytes: length ?? 0)
    }

    /// Opens a journal for reading, or returns `nil` when there is none.
    func openJournal(_ hash: KeyHash) throws(FileSystemError) -> Descriptor? {
        try ifPresent { () throws(FileSystemError) in
            try fileSystem.open(CacheLayout.journal(of: hash), in: incoming.descriptor, .read) {
                journal throws(FileSystemError) in
                try fileSystem.attributes(of: journal).kind == .regular
            }
        } ?? nil
    }

    /// The session that is writing a partial, if its process lives.
    func livingWriter(_ head: PartialHead) throws(FileSystemError) -> String? {
        guard head.writer != 0 else { return nil }
        let session = Self.name(ofSession: head.writer)
        return try WriterSession.isAlive(session, in: incoming) ? session : nil
    }

    /// All hashes under which there is a file of a partial.
    func hashes() throws(FileSystemError) -> [KeyHash] {
        let entries = try fileSystem.entries(of: incoming.descriptor)
        return Set(entries.compactMap { CacheLayout.hash(ofKeptPartial: $0.name) }).sorted()
    }
}

extension PartialFiles {
    /// The number of a session, which is 16 hexadecimal digits; 0 for one that cannot keep partials.
    static func number(ofSession name: String) -> UInt64 { UInt64(name, radix: 16) ?? 0 }

    static func name(ofSession number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension KeyHash {
    /// The hash under which the catalog lists a key's partial. Applying it twice gives the original.
    var ofPartial: KeyHash { KeyHash(high: high, low: ~low) }
}

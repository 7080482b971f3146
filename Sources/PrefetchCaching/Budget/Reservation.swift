internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchVolumeCapacity

/// A refusal on its way to the call that stores, which counts it and returns it as a value.
struct Refused: Error {
    let refusal: Refusal

    init(_ refusal: Refusal) {
        self.refusal = refusal
    }
}

extension Refusal {
    /// What ended a store, if that was for lack of room. A full volume is one.
    ///
    /// - Throws: Any other error.
    init(_ error: any Error) throws(CacheError) {
        if let refused = error as? Refused {
            self = refused.refusal
            return
        }
        let failure = CacheError(error, ofDatabase: "catalog")
        guard failure.isOutOfSpace else { throw failure }
        self = .full
    }
}

/// The part of the budget that one item under way holds.
///
/// It grows ahead of the bytes that are written, and is spent on the stored item, or released when it is dropped.
final class Reservation {
    /// How many bytes an item of unknown length reserves ahead of need: 1 MiB at first, doubling up to 16 MiB.
    private static let steps: ClosedRange<Int64> = 1 << 20...16 << 20

    private let admission: Admission
    private let charge: ChargedLength
    private let newcomer: Newcomer
    private var step = steps.lowerBound
    /// Whether the length of the content is known, or all of it has arrived: nothing is then reserved ahead.
    var isLengthKnown: Bool
    /// Charged bytes that are held.
    private var bytes: Int64
    /// The part of them that is for the journal of the partial.
    private var journalBytes: Int64 = 0

    /// - Parameter bytes: Charged bytes that are already reserved.
    init(
        _ admission: Admission, charge: ChargedLength, for newcomer: Newcomer, isLengthKnown: Bool,
        holding bytes: Int64 = 0
    ) {
        self.admission = admission
        self.charge = charge
        self.newcomer = newcomer
        self.isLengthKnown = isLengthKnown
        self.bytes = bytes
    }

    deinit {
        release()
    }

    /// Makes sure that a file of `storedBytes` bytes is covered, in addition to the journal.
    ///
    /// - Throws: ``Refused`` or ``CacheError``.
    func cover(storedBytes: Int64) throws {
        if let refusal = try admission.interruption() { throw Refused(refusal) }
        let charged = charge(storedBytes: storedBytes) + journalBytes
        guard charged > bytes else { return }
        // Nothing is evicted for what is reserved ahead.
        let ahead = isLengthKnown ? 0 : step
        bytes += try admission.reserve(charged - bytes, upTo: ahead, ofItem: charged, for: newcomer)
        if !isLengthKnown { step = min(step * 2, Self.steps.upperBound) }
    }

    /// As ``cover(storedBytes:)``, for a journal that has grown to `length` bytes.
    func cover(journal length: Int64, storedBytes: Int64) throws {
        let needed = charge(storedBytes: length)
        guard needed > journalBytes else { return }
        journalBytes = needed
        try cover(storedBytes: storedBytes)
    }

    /// Covers the worst case of an item of known length, so that it is refused before its first byte. A single chunk is
    /// compressed first, and exactly what it takes is reserved before it is written.
    ///
    /// - Parameter isJournaled: Whether its chunks are kept.
    func coverAll(_ contentBytes: Int64, of metadata: ItemMetadata, isJournaled: Bool) throws {
        if isJournaled, contentBytes >= Int64(ItemLimits.chunkBytes) {
            journalBytes = charge(
                storedBytes: PartialJournal.length(metadata: metadata, contentBytes: contentBytes))
        }
        guard contentBytes > Int64(ItemLimits.chunkBytes) else { return }
        try cover(
            storedBytes: ItemFooter.storedBytesBound(contentBytes: contentBytes, metadata: metadata))
    }

    /// Counts the bytes of an existing journal, which are already held.
    func hold(journal length: Int64) {
        journalBytes = charge(storedBytes: length)
    }

    /// Returns the held bytes, for which the caller is now responsible.
    func take() -> Int64 {
        defer { bytes = 0 }
        return bytes
    }

    /// Keeps the bytes of the journal held, outside this reservation.
    func leaveJournalBytes() {
        bytes -= journalBytes
        journalBytes = 0
    }

    func release() {
        if bytes > 0 { admission.release(take()) }
    }
}

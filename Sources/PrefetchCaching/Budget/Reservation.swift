internal import PrefetchItemFormat
internal import PrefetchVolumeCapacity

/// The part of the budget that one item under way holds.
///
/// It grows ahead of the bytes that are written, and is either spent on the stored item or released.
final class Reservation {
    /// How many bytes an item of unknown length reserves ahead of need: 1 MiB at first, doubling up to 16 MiB.
    private static let steps: ClosedRange<Int64> = 1 << 20...16 << 20

    private let admission: Admission
    private let charge: ChargedLength
    private let priority: Float
    private var step = steps.lowerBound
    /// Whether the length of the content is known, or all of it has arrived: nothing is then reserved ahead.
    var isLengthKnown: Bool
    /// Charged bytes that are held.
    private(set) var bytes: Int64
    /// The part of them that is for the journal of the partial.
    var journalBytes: Int64 = 0
    /// Why a request was refused.
    private var refusal: Refusal?
    private var failure: CacheError?

    /// - Parameter bytes: Charged bytes that are already reserved.
    init(
        _ admission: Admission, charge: ChargedLength, priority: Float, isLengthKnown: Bool,
        holding bytes: Int64 = 0
    ) {
        self.admission = admission
        self.charge = charge
        self.priority = priority
        self.isLengthKnown = isLengthKnown
        self.bytes = bytes
    }

    /// Makes sure that a file of `storedBytes` bytes is covered.
    ///
    /// - Throws: ``ItemFormatError/notAdmitted`` when it is not; ``denial()`` returns the reason.
    func cover(storedBytes: Int64) throws(ItemFormatError) {
        do throws(CacheError) {
            refusal = try admission.interruption()
        } catch {
            failure = error
        }
        guard refusal == nil, failure == nil else { throw .notAdmitted }
        let charged = charge(storedBytes: storedBytes) + journalBytes
        guard charged > bytes else { return }
        if !isLengthKnown, reserve(max(charged, bytes + step), needing: charged) {
            step = min(step * 2, Self.steps.upperBound)
            return
        }
        // The item may fit where a whole step does not.
        guard failure == nil, reserve(charged, needing: charged) else { throw .notAdmitted }
    }

    /// Returns why the last request was refused. A full volume is one reason.
    func denial() throws(CacheError) -> Refusal {
        if let refusal { return refusal }
        guard let failure, !failure.isOutOfSpace else { return .full }
        throw failure
    }

    private func reserve(_ wanted: Int64, needing charged: Int64) -> Bool {
        do {
            refusal = try admission.reserve(wanted - bytes, ofItem: charged, priority: priority)
        } catch {
            failure = error
        }
        guard refusal == nil, failure == nil else { return false }
        bytes = wanted
        return true
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
        admission.release(take())
    }
}

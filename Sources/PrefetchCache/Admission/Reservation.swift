internal import ItemFormat
internal import VolumeCapacity

/// The part of the budget that one item under way holds.
///
/// It grows ahead of the bytes that are written, and is either spent on the stored item or released.
final class Reservation {
    private let admission: Admission
    private let charge: ChargedLength
    /// Charged bytes that are held.
    private(set) var bytes: Int64 = 0
    /// Why the last request was not met.
    private(set) var refusal: Refusal?
    private(set) var failure: CacheError?

    init(_ admission: Admission, charge: ChargedLength) {
        self.admission = admission
        self.charge = charge
    }

    /// Makes sure that a file of `storedLength` bytes is covered.
    ///
    /// - Throws: ``ItemFormatError/notAdmitted`` when it is not; ``refusal`` or ``failure`` says why.
    func cover(storedLength: Int64) throws(ItemFormatError) {
        let charged = charge(storedLength: storedLength)
        guard charged > bytes else { return }
        do {
            refusal = try admission.reserve(charged - bytes, ofItem: charged)
        } catch {
            failure = error
        }
        guard refusal == nil, failure == nil else { throw .notAdmitted }
        bytes = charged
    }

    /// Hands the held bytes over to whoever accounts for the stored item.
    func take() -> Int64 {
        defer { bytes = 0 }
        return bytes
    }

    func release() {
        admission.release(take())
    }
}

internal import PrefetchCache

extension Validator {
    /// Takes the validator of the version that a response carries. Values that an item cannot store, or a
    /// request cannot repeat, are left out.
    ///
    /// - Parameter now: Seconds since 1970.
    init(_ head: ResponseHead, now: Int64) {
        let limit = ItemLimits.validatorLength
        let tag = head.entityTag?.text
        let date = head["last-modified"].map { String($0.trimmed) }
        self.init(
            entityTag: tag.flatMap { $0.utf8.count <= limit ? $0 : nil },
            lastModified: date.flatMap { HTTPDate.parse($0, now: now) == nil ? nil : $0 })
    }

    /// The seconds that must lie between the last change of a resource and its download for the date, which
    /// has a resolution of one second, to distinguish two versions: RFC 7232, section 2.2.2, whose margin
    /// allows for two clocks that differ.
    static let margin: Int64 = 60

    /// The value for `If-Range`, which requests the rest of exactly the same bytes; `nil` when no validator
    /// is reliable enough.
    ///
    /// - Parameter storedAt: Milliseconds since 1970.
    func rangeCondition(storedAt: Int64) -> String? {
        if let tag = entityTag.flatMap(EntityTag.init), tag.isStrong { return tag.text }
        let stored = storedAt / 1000
        guard let lastModified, let date = HTTPDate.parse(lastModified, now: stored),
            date + Self.margin <= stored
        else { return nil }
        return lastModified
    }

    var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

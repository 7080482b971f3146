internal import PrefetchCache

extension Validator {
    /// What an answer says about the version that it carries. What an item could not hold, or a request could
    /// not repeat, is left out.
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

    /// Seconds that must lie between the last change of a resource and its download for the date to tell two
    /// versions apart, which servers give to the second: RFC 7232, section 2.2.2, whose margin leaves room
    /// for two clocks that differ.
    static let margin: Int64 = 60

    /// What goes into `If-Range`, which asks for the rest of the very same bytes; `nil` when there is nothing
    /// that is sure enough.
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

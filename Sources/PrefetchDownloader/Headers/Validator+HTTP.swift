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

    /// The seconds that must lie between the last change of a resource and the response for the date of the
    /// change, which has a resolution of one second, to distinguish two versions. RFC 9110, section 8.8.2.2,
    /// demands one if the server took both from one clock; the margin of RFC 7232 allows for two that differ.
    static let margin: Int64 = 60

    /// Whether equal validators mean equal bytes, so that a download can be resumed: the entity tag is strong,
    /// or the resource had long been unchanged when the server sent the response. That is judged by the
    /// server's clock alone: the client's may be wrong.
    ///
    /// - Parameter head: The response that the validator is from.
    func isStrong(in head: ResponseHead, now: Int64) -> Bool {
        if strongTag != nil { return true }
        guard let changed = lastModified.flatMap({ HTTPDate.parse($0, now: now) }),
            let sent = head["date"].flatMap({ HTTPDate.parse(String($0.trimmed), now: now) })
        else { return false }
        return changed + Self.margin <= sent
    }

    /// The value for `If-Range`, which requests the rest of exactly the same bytes, if the validator is
    /// strong.
    ///
    /// - Parameter now: Seconds since 1970.
    func rangeCondition(now: Int64) -> String? {
        strongTag ?? lastModified.flatMap { HTTPDate.parse($0, now: now) == nil ? nil : $0 }
    }

    private var strongTag: String? {
        entityTag.flatMap(EntityTag.init).flatMap { $0.isStrong ? $0.text : nil }
    }

    var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

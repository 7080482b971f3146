/// What a process notes in the journal at once.
///
/// The stored form: the distinct texts, the time of the first entry, then for each entry the length of the rest and the
/// rest: the time since that, the numbers of the texts of kind, reason, key and source, the count, the bytes of content
/// and of the budget, flags (1: was read; 2: a time of storing follows) and the time of storing before that of the entry.
/// All numbers are as in ``HistoryRows``. What follows them within the length of an entry is of a newer version, and
/// passed over, as are entries of unknown kinds.
enum JournalRecord {
    private enum Flags {
        static let wasRead: UInt64 = 1
        static let hasStoredAt: UInt64 = 2
    }

    static func encoded(_ entries: some Collection<JournalEntry>) -> [UInt8] {
        var texts: [String] = []
        // By their bytes, as keys are compared.
        var numbers: [[UInt8]: UInt64] = [:]
        func number(of text: String) -> UInt64 {
            let bytes = Array(text.utf8)
            if let number = numbers[bytes] { return number }
            let number = UInt64(texts.count)
            numbers[bytes] = number
            texts.append(JournalEntry.kept(text))
            return number
        }
        let start = entries.first?.time ?? 0
        var bodies: [UInt8] = []
        for entry in entries {
            var body: [UInt8] = []
            body.append(signed: entry.time &- start)
            for text in [entry.kind.rawValue, entry.reason, entry.key, entry.source] {
                body.append(number: number(of: text))
            }
            body.append(signed: entry.count)
            body.append(signed: entry.contentBytes)
            body.append(signed: entry.chargedBytes)
            body.append(
                number: (entry.wasRead ? Flags.wasRead : 0) | (entry.storedAt == nil ? 0 : Flags.hasStoredAt))
            if let storedAt = entry.storedAt { body.append(signed: entry.time &- storedAt) }
            bodies.append(counted: body)
        }
        var bytes: [UInt8] = []
        bytes.append(number: UInt64(texts.count))
        for text in texts { bytes.append(text: text) }
        bytes.append(signed: start)
        return bytes + bodies
    }

    /// - Throws: ``MalformedRecord``.
    static func entries(decoding bytes: [UInt8]) throws -> [JournalEntry] {
        var rest = bytes[...]
        var texts: [String] = []
        for _ in 0..<(try rest.number(atMost: UInt64(bytes.count))) { texts.append(try rest.text()) }
        let start = try rest.signed()
        var entries: [JournalEntry] = []
        while !rest.isEmpty {
            var body = try rest.counted()
            func text() throws -> String {
                let number = try body.number()
                guard number < UInt64(texts.count) else { throw MalformedRecord() }
                return texts[Int(number)]
            }
            let time = start &+ (try body.signed())
            guard let kind = JournalEntry.Kind(rawValue: try text()) else { continue }
            var entry = JournalEntry(time: time, kind: kind)
            entry.reason = try text()
            entry.key = try text()
            entry.source = try text()
            entry.count = try body.signed()
            entry.contentBytes = try body.signed()
            entry.chargedBytes = try body.signed()
            let flags = try body.number()
            entry.wasRead = flags & Flags.wasRead != 0
            if flags & Flags.hasStoredAt != 0 { entry.storedAt = time &- (try body.signed()) }
            entries.append(entry)
        }
        return entries
    }
}

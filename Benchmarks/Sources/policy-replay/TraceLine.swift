import PrefetchCaching

/// One request: `time,key,size`. A key is whatever text stands between the commas.
struct TraceLine {
    let key: ItemKey
    let size: Int64

    init(_ line: UnsafeRawBufferPointer) throws(TraceLineError) {
        let comma = UInt8(ascii: ",")
        guard let first = line.firstIndex(of: comma), let last = line.lastIndex(of: comma), first < last,
            line[(first + 1)...].firstIndex(of: comma) == last
        else { throw .columns }
        size = try Self.size(line[(last + 1)...])
        let text = UnsafeRawBufferPointer(rebasing: line[(first + 1)..<last])
        guard let text = String(validating: text, as: UTF8.self) else { throw .notUTF8 }
        do {
            key = try ItemKey(text)
        } catch {
            throw .key(error)
        }
    }

    private static func size(_ digits: Slice<UnsafeRawBufferPointer>) throws(TraceLineError) -> Int64 {
        guard let first = digits.first else { throw .noSize }
        if first == UInt8(ascii: "-") { throw .negativeSize }
        var size: Int64 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .sizeNoNumber }
            let (tenfold, isTooLarge) = size.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = tenfold.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !isTooLarge, !isTooLargeNow else { throw .sizeTooLarge }
            size = sum
        }
        return size
    }
}

/// What is wrong with a line.
enum TraceLineError: Error, CustomStringConvertible {
    case columns, noSize, negativeSize, sizeNoNumber, sizeTooLarge, notUTF8
    case key(ItemKeyError)

    var description: String {
        switch self {
        case .columns: "has not three columns"
        case .noSize: "has no size"
        case .negativeSize: "has a negative size"
        case .sizeNoNumber: "has a size that is no whole number"
        case .sizeTooLarge: "has a size of more than \(Int64.max) bytes"
        case .notUTF8: "has a key that is not UTF-8"
        case .key(let error): "has a key that cannot be (\(error))"
        }
    }
}

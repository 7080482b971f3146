package import PrefetchItemFormat

extension ItemReader {
    /// Hands a range of the content to `sink`, piece by piece and in order.
    package func stream(
        _ range: Range<Int64>, to sink: (UnsafeRawBufferPointer) -> Void
    ) throws(ItemFormatError) {
        var pieces = try pieces(of: range)
        while let piece = try pieces.next() { sink(piece) }
    }
}

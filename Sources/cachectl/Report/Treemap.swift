/// Rectangles whose areas are in proportion to amounts, each as square as possible: a squarified treemap (Bruls, Huizing
/// and van Wijk: "Squarified Treemaps", 2000).
struct Treemap {
    struct Rectangle: Equatable {
        var x: Double
        var y: Double
        var width: Double
        var height: Double

        var area: Double { width * height }
    }

    /// Lays out amounts within a rectangle.
    ///
    /// - Parameter amounts: The largest first.
    /// - Returns: A rectangle for each; those of amounts that are not positive are empty.
    /// - Complexity: O(*n*)
    static func rectangles(of amounts: [Double], in whole: Rectangle) -> [Rectangle] {
        let sum = amounts.reduce(0) { $0 + max(0, $1) }
        guard sum > 0, whole.area > 0 else {
            return amounts.map { _ in Rectangle(x: whole.x, y: whole.y, width: 0, height: 0) }
        }
        let scaled = amounts.map { max(0, $0) / sum * whole.area }
        var rectangles: [Rectangle] = []
        var rest = whole
        var row: [Double] = []
        for amount in scaled {
            let side = min(rest.width, rest.height)
            if row.isEmpty || worst(row + [amount], along: side) <= worst(row, along: side) {
                row.append(amount)
            } else {
                rectangles += place(row, in: &rest)
                row = [amount]
            }
        }
        return rectangles + place(row, in: &rest)
    }

    /// The worst ratio of the sides in a row.
    private static func worst(_ row: [Double], along side: Double) -> Double {
        let sum = row.reduce(0, +)
        guard let least = row.min(), let most = row.max(), least > 0, side > 0 else { return .infinity }
        return max(side * side * most / (sum * sum), sum * sum / (side * side * least))
    }

    /// Places a row along the shorter side, and takes it from the rest.
    private static func place(_ row: [Double], in rest: inout Rectangle) -> [Rectangle] {
        let sum = row.reduce(0, +)
        let isColumn = rest.width >= rest.height
        let side = isColumn ? rest.height : rest.width
        // No more than there is: what is left after a huge amount is not exact.
        let depth = side > 0 ? min(sum / side, isColumn ? rest.width : rest.height) : 0
        var start = isColumn ? rest.y : rest.x
        let placed = row.map { amount in
            let length = depth > 0 ? amount / depth : 0
            defer { start += length }
            return isColumn
                ? Rectangle(x: rest.x, y: start, width: depth, height: length)
                : Rectangle(x: start, y: rest.y, width: length, height: depth)
        }
        if isColumn {
            rest.x += depth
            rest.width = max(0, rest.width - depth)
        } else {
            rest.y += depth
            rest.height = max(0, rest.height - depth)
        }
        return placed
    }
}

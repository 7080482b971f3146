import Testing

@testable import cachectl

@Suite struct TreemapTests {
    private static let whole = Treemap.Rectangle(x: 10, y: 20, width: 600, height: 400)

    /// The example of the paper, of 6 by 4.
    @Test func theExampleOfThePaper() {
        let whole = Treemap.Rectangle(x: 0, y: 0, width: 6, height: 4)
        let rectangles = Treemap.rectangles(of: [6, 6, 4, 3, 2, 2, 1], in: whole)
        let sides = rectangles.map { [$0.width, $0.height].map { ($0 * 100).rounded() / 100 } }
        #expect(
            sides == [
                [3, 2], [3, 2], [1.71, 2.33], [1.29, 2.33], [1.2, 1.67], [1.2, 1.67], [0.6, 1.67],
            ])
    }

    private static let samples: [[Double]] = [
        [1], [5, 5], [9, 3, 1, 1, 1, 0.5], [1e12, 1, 1], (1...200).reversed().map(Double.init), [3, 0, -1],
    ]

    @Test(arguments: samples)
    func areasAreInProportionAndDisjoint(amounts: [Double]) {
        let rectangles = Treemap.rectangles(of: amounts, in: Self.whole)
        let sum = amounts.filter { $0 > 0 }.reduce(0, +)
        for (amount, rectangle) in zip(amounts, rectangles) {
            #expect(abs(rectangle.area - max(0, amount) / sum * Self.whole.area) < 0.01)
            #expect(rectangle.x >= 10 - 1e-6 && rectangle.x + rectangle.width <= 610 + 1e-6)
            #expect(rectangle.y >= 20 - 1e-6 && rectangle.y + rectangle.height <= 420 + 1e-6)
        }
        for (index, one) in rectangles.enumerated() {
            for other in rectangles[(index + 1)...] {
                let width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
                let height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
                #expect(width < 1e-6 || height < 1e-6)
            }
        }
    }

    @Test func nothingHasNoRoom() {
        #expect(Treemap.rectangles(of: [], in: Self.whole).isEmpty)
        #expect(Treemap.rectangles(of: [0, 0], in: Self.whole).allSatisfy { $0.area == 0 })
    }
}

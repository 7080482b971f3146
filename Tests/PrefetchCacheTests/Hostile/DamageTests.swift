import FileSystemTestSupport
import Foundation
import ItemFormatTestSupport
import Testing

@testable import PrefetchCaching

/// An item of one of the kinds that are laid out differently.
enum DamagedShape: String, CaseIterable, CustomTestStringConvertible {
    case smallLZ4 = "lz4", smallIdentity = "identity"
    case chunkedLZ4 = "lz4-chunks", chunkedIdentity = "identity-chunks"

    var testDescription: String { rawValue }
    var isChunked: Bool { self == .chunkedLZ4 || self == .chunkedIdentity }
    var isIdentity: Bool { self == .smallIdentity || self == .chunkedIdentity }

    var content: Data {
        let length = isChunked ? (2 << 20) + 5000 : 10_000
        return isIdentity ? noise(length) : prose(length)
    }

    func rig(_ attack: String) throws -> DamageRig {
        try DamageRig(
            "damage.\(attack)-\(rawValue)", content: content, encoding: .forced(isIdentity ? .identity : .lz4)
        )
    }
}

/// An item's file is no longer what was stored: a miss and a quarantine, or an error of `verify`, and never
/// other bytes.
@Suite struct HostileDamageTests {
    @Test(arguments: DamagedShape.allCases)
    func everyBitOfTheFooterCounts(_ shape: DamagedShape) throws {
        let rig = try shape.rig("footer-bits")
        let bits = rig.footer.lowerBound * 8..<rig.footer.upperBound * 8
        for bit in chosen(bits, atMost: 8) {
            try rig.flip(bit: bit)
            try rig.attack("bit \(bit)")
            try rig.flip(bit: bit)
        }
        try rig.finish()
    }

    /// Ten thousand bits in all. Two LZ4 streams may stand for the same bytes, so that not every one of a frame
    /// makes a difference.
    @Test(arguments: DamagedShape.allCases)
    func bitsOfTheContentCount(_ shape: DamagedShape) throws {
        let rig = try shape.rig("payload-bits")
        let bits = 0..<rig.footer.lowerBound * 8
        var generator = SeededGenerator(seed: TestRun.seed)
        for _ in 0..<TestRun.count(short: shape.isChunked ? 3 : 8, long: 2500) {
            let bit = Int.random(in: bits, using: &generator)
            try rig.flip(bit: bit)
            try rig.attack(
                "bit \(bit)", asking: DamageRig.Question.ofContent,
                expecting: shape.isIdentity ? [.damaged] : [.damaged, .unharmed])
            try rig.flip(bit: bit)
        }
        try rig.finish()
    }

    @Test(arguments: DamagedShape.allCases)
    func everyLengthNearABoundaryIsAMiss(_ shape: DamagedShape) throws {
        let rig = try shape.rig("truncation")
        let chunks = shape.isChunked ? rig.chunkEnds : []
        let end = rig.image.count
        let boundaries = [0, 32, rig.footer.lowerBound, end - 32, end] + chunks
        let margin = TestRun.count(short: 1, long: 70)
        let lengths = Set(boundaries.flatMap { $0 - margin...$0 + margin }).filter { (0..<end).contains($0) }
        for length in lengths.sorted() {
            try rig.write(Array(rig.image.prefix(length)))
            try rig.attack("\(length) bytes", expecting: [length < 32 ? .purged : .damaged])
        }
        try rig.finish()
    }

    @Test(arguments: DamagedShape.allCases)
    func whatIsAppendedIsDamage(_ shape: DamagedShape) throws {
        let rig = try shape.rig("appended")
        let footer = Array(rig.image[rig.footer])
        let other = [UInt8](ForgedItem.other.image)
        let garbage: [[UInt8]] =
            [1, 31, 32, 512, 4096, 300_000].map { [UInt8](noise($0)) } + [
                [0], [10], [UInt8](repeating: 0, count: 4096), Array(footer.suffix(32)), footer,
                footer + footer,
                rig.image, other, Array(other.suffix(150)),
            ]
        for (number, bytes) in TestRun.sample(6, of: Array(garbage.enumerated())) {
            try rig.write(rig.image + bytes)
            try rig.attack("garbage \(number)")
        }
        try rig.finish()
    }

    /// A hole in the place of bytes is what a power cut leaves.
    @Test(arguments: DamagedShape.allCases)
    func zeroedBlocksAreDamage(_ shape: DamagedShape) throws {
        let rig = try shape.rig("zeroed-blocks")
        let blocks = (rig.image.count + 4095) / 4096
        for block in chosen(0..<blocks, atMost: 4) {
            var image = rig.image
            let range = block * 4096..<min((block + 1) * 4096, image.count)
            for index in range { image[index] = 0 }
            try rig.write(image)
            try rig.attack("block \(block)", asking: DamageRig.Question.ofContent)
        }
        try rig.finish()
    }

    // MARK: Negative controls

    /// The rig sees other bytes when they are served: those of a file that is sound in itself.
    @Test func theRigSeesWrongBytes() throws {
        let content = noise(1000)
        let forged = ForgedItem(content: [UInt8](noise(1000, seed: 2))).image
        let rig = try DamageRig("control", content: content, encoding: .forced(.identity), image: forged)
        let questions: [DamageRig.Question] = [.read, .range, .stream, .open, .openSeveral]
        for question in questions { withKnownIssue { try rig.attack("wrong bytes", asking: [question]) } }
        #expect(rig.record.wrongBytes == questions.count && !rig.record.isHarmless)
    }

    /// The rig sees that an item is served which nothing was done to.
    @Test func theRigSeesThatNothingWasDamaged() throws {
        let rig = try DamagedShape.smallLZ4.rig("control")
        withKnownIssue { try rig.attack("not damaged at all", asking: [.read]) }
        try rig.attack("not damaged at all", expecting: [.unharmed])
    }
}

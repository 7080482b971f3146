import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

/// What a newer version wrote is told from damage, so that it can be left alone.
@Suite struct NewerVersionTests {
    @Test(arguments: [2, 3, UInt16.max])
    func aNewerTrailerIsReportedWithItsVersion(version: UInt16) throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.version = version
        #expect(try failure(reading: forged.image) == .newerVersion(version))
    }

    @Test func theRestOfANewerFooterIsNotLookedAt() throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.version = 2
        forged.frameMagic = 0
        forged.fields = []
        #expect(try failure(reading: forged.image) == .newerVersion(2))
    }

    @Test(arguments: [0x8000, 0x8001, 0xFFFF] as [UInt16])
    func anUnknownFieldThatMustBeUnderstoodNeedsANewerReader(tag: UInt16) throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.fields.append(.init(tag: tag, value: []))
        #expect(try failure(reading: forged.image) == .newerVersion(2))
    }

    @Test func aNewerVersionMayHaveALongerFooter() throws {
        var forged = ForgedItem(content: Sample.text(100))
        forged.version = 2
        forged.fields.append(.init(tag: 8, value: [UInt8](repeating: 0, count: 2 << 20)))
        #expect(try failure(reading: forged.image) == .newerVersion(2))
    }

    /// A version is believed only with the checksum that goes with it.
    @Test func aFlippedVersionIsDamage() throws {
        var image = ForgedItem(content: Sample.text(100)).image
        image[image.count - 20] = 2
        #expect(try failure(reading: image) == .damaged(.footerChecksum))
    }
}

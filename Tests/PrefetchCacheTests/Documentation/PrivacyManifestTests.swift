import Foundation
import Testing

/// What Apple's stores ask of a library that looks at free space and at the times of files.
@Suite struct PrivacyManifestTests {
    @Test func itGivesTheReasonsAndCollectsNothing() throws {
        let file = URL(filePath: #filePath).appending(
            path: "../../../../Sources/PrefetchCaching/PrivacyInfo.xcprivacy")
        let manifest = try #require(
            try PropertyListSerialization.propertyList(from: Data(contentsOf: file.standardized), format: nil)
                as? [String: Any])
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
        let types = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let reasons = try types.map { type in
            let category = try #require(type["NSPrivacyAccessedAPIType"] as? String)
            return [category] + (try #require(type["NSPrivacyAccessedAPITypeReasons"] as? [String]))
        }
        #expect(
            reasons == [
                ["NSPrivacyAccessedAPICategoryDiskSpace", "E174.1"],
                ["NSPrivacyAccessedAPICategoryFileTimestamp", "C617.1", "3B52.1"],
            ])
    }
}

import Foundation
import PrefetchCaching
import Testing

@testable import cachectl

@Suite struct FetchTargetTests {
    @Test(
        arguments: [
            ("https://example.org/a/b.mp3?x=1#f", "https://example.org/a/b.mp3?x=1", "b.mp3"),
            ("https://u:p@example.org/", "https://example.org/", "example.org"),
            ("http://example.org", "http://example.org", "example.org"),
            ("https://example.org/a%2F..%2Fb", "https://example.org/a%2F..%2Fb", nil),
            ("https://example.org/%FF", "https://example.org/%FF", "%FF"),
        ] as [(String, String, String?)])
    func theKeyIsTheURLAndTheNameItsEnd(_ text: String, _ key: String, _ name: String?) throws {
        let target = try FetchTarget(text)
        #expect(target.key.string == key)
        #expect(target.url.absoluteString == key)
        #expect(!target.fileName.string.contains("/"))
        if let name { #expect(target.fileName.string == name) }
    }

    @Test(
        arguments: [
            "", "a", "/a", "ftp://a/", "https://", "https:///a", "https://a b/", "file:///etc/passwd",
            "https://u:p w@a/", "https://a/\u{1B}",
        ])
    func whatIsNoURLOfAServerIsRefused(_ text: String) {
        #expect(throws: FetchTargetError.self) { try FetchTarget(text) }
    }

    @Test(
        arguments: [
            ("ftp://u:p@a/", "ftp://…@a/"), ("https://u:p/w@a b/", "https://…@a b/"), ("u:p@a", "…@a"),
            ("https://a@b:p@c d", "https://…@c d"), ("a", "a"),
        ])
    func aBadURLIsNamedWithoutItsCredentials(_ text: String, _ named: String) {
        #expect(throws: FetchTargetError.notAURL(named)) { try FetchTarget(text) }
    }
}

import Foundation
import PrefetchCaching
import PrefetchDownloading
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
            ("https://u:p w@a/x%20y [1].mp3", "https://a/x%20y%20%5B1%5D.mp3", "x y [1].mp3"),
            ("https://bücher.example/ö%20?ü", "https://xn--bcher-kva.example/%C3%B6%20?%C3%BC", "ö "),
        ] as [(String, String, String?)])
    func theKeyIsTheURLAndTheNameItsEnd(_ text: String, _ key: String, _ name: String?) throws {
        let target = try FetchTarget(text)
        #expect(target.key.string == key)
        #expect(target.url.absoluteString == key)
        #expect(!target.fileName.string.contains("/"))
        if let name { #expect(target.fileName.string == name) }
    }

    /// One byte more than a key may have, and one less.
    @Test func aLongURLHasADigestAsItsKey() throws {
        let longest = "https://example.org/" + String(repeating: "a", count: ItemKey.maximumBytes - 20)
        #expect(try FetchTarget(longest).key.string == longest)
        let digest = SHA256.digest(of: Data("\(longest)b".utf8)).map { String(format: "%02x", $0) }.joined()
        #expect(try FetchTarget("\(longest)b#part").key.string == "sha256:\(digest)")
        #expect(
            try FetchTarget("\(longest)b".replacing("://", with: "://u:p@")).key.string == "sha256:\(digest)")
    }

    @Test(
        arguments: [
            "", "a", "/a", "ftp://a/", "https://", "https:///a", "https://a b/", "file:///etc/passwd",
            "https://u:p w@a b/", "https://a/\u{1B}", "https://a/\nb",
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

import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What is asked for, byte for byte, beside what `curl` asks for.
@Suite(.enabled(if: Curl.program != nil, "curl is missing; '.ci/setup --servers' installs it."))
struct RequestLineTests {
    /// curl sends these as they are where it is given them, which no URL may contain (RFC 3986, section 2): a request line with
    /// them is none, and servers and proxies refuse it. Here they are encoded, as browsers do and `URLSession` does.
    private static func encoded(_ target: String) -> String {
        let bytes = Array(target.utf8)
        let illegal = Set("\"<>[\\]^`{|} #".utf8)
        return bytes.indices.map { index in
            let next = bytes[(index + 1)...].prefix(2).map { Character(Unicode.Scalar($0)) }
            let isLone =
                bytes[index] == UInt8(ascii: "%") && !(next.count == 2 && next.allSatisfy(\.isHexDigit))
            guard isLone || illegal.contains(bytes[index]) || bytes[index] > 0x7E else {
                return String(Unicode.Scalar(bytes[index]))
            }
            return "%" + String(bytes[index], radix: 16, uppercase: true)
        }.joined()
    }

    /// Codes as far as they can be told from curl's, which writes those of what is not ASCII in lower case, against the
    /// recommendation (RFC 3986, section 2.1). What was given as a code stays as it is.
    private static func comparable(_ target: String?, of name: String) -> String? {
        name.utf8.allSatisfy { $0 < 0x80 } && !latin1.contains { name.hasSuffix($0) }
            ? target : target?.lowercased()
    }

    private enum Ours: Hashable {
        case refused
        case target(String)
    }

    /// The other differences: what is asked for here, and why. `nil` for curl's place is no request of it.
    private static let differences: [String: (ours: Ours, reason: String)] = [
        // curl takes no URL with a space from its user, and encodes it only in a `Location`. Feeds are full of them.
        "http://HOST/my file.mp3": (.target("/my%20file.mp3"), "a space"),
        "http://HOST/a b?c d=e f": (.target("/a%20b?c%20d=e%20f"), "a space"),
        "http://HOST/a%20b c.mp3": (.target("/a%20b%20c.mp3"), "a space"),
        "http://HOST/a.mp3? x": (.target("/a.mp3?%20x"), "a space"),
        "http://us er@HOST/a": (.target("/a"), "a space"),
        "http://HOST/a.mp3?aw_0_1st.playerid=Player App&x": (
            .target("/a.mp3?aw_0_1st.playerid=Player%20App&x"), "a space"
        ),
        "http://HOST/a#b%zz é": (.target("/a"), "a space, though it is not sent"),
        // There it writes `+` in a query, which is a space for those alone who read it as a form.
        "Location: ?a b": (.target("/dirN/page?a%20b"), "a space"),
        "Location: /a?sig=a+b/c=&u=https://x.org/?q=1 2": (
            .target("/a?sig=a+b/c=&u=https://x.org/?q=1%202"), "a space"
        ),
        // curl drops a `?` without a query in a `Location`, and keeps it in what its user gives.
        "Location: ?": (.target("/dirN/page?"), "an empty query"),
        "Location: /?": (.target("/?"), "an empty query"),
        "Location: /x?": (.target("/x?"), "an empty query"),
        // A reference to a part of the same page (RFC 3986, section 4.4).
        "Location: #f": (.target("/dirN/page?old=1"), "a fragment alone"),
        // curl guesses the scheme or the host that is not there.
        "HOST/a": (.refused, "no scheme"),
        "http:/HOST/a": (.refused, "no host"),
        "http:///HOST/a": (.refused, "no host"),
        "Location: http:/HOST/a": (.refused, "no host"),
        "Location: http:///HOST/a": (.refused, "no host"),
    ]

    @Test func urlsAreAskedForAsByCurl() async throws {
        try await compare(Self.urls.map { ($0, nil) })
    }

    @Test func redirectsAreFollowedAsByCurl() async throws {
        let latin1 = Self.latin1.map { ("Location: \($0)", $0.data(using: .isoLatin1)) }
        try await compare(Self.locations.map { ("Location: \($0)", Data($0.utf8)) } + latin1)
    }

    /// - Parameter cases: URLs, or names and values of `Location`. `HOST` stands for the server.
    private func compare(_ cases: [(name: String, location: Data?)]) async throws {
        let locations = cases.map(\.location)
        let server = try HTTPTestServer { Self.answer(to: $0, locations) }
        func place(_ text: String) -> String {
            text.replacing("HOST", with: "127.0.0.1:\(server.port)").replacing("PORT", with: "\(server.port)")
        }
        let urls = cases.enumerated().map { index, each in
            place(each.location == nil ? each.name : "http://HOST/dir\(index)/page?old=1")
        }
        try Curl.request(urls, headers: { ["X-Case: \($0)"] })
        let theirs = Dictionary(grouping: server.requests) { $0.headers["x-case"] ?? "" }
        let cache = try await TestCache()
        let downloader = cache.downloader {
            $0.attempts = 1
            $0.hosts = .any
            $0.allowsInsecureHTTP = true
        }
        for (index, (each, url)) in zip(cases, urls).enumerated() {
            let before = server.requests.count
            if let url = URL(asWritten: url) {
                _ = await downloader.prefetch(DownloadRequest(url, try ItemKey("\(index)"))).outcome
            }
            func last(_ requests: some Collection<TestRequest>) -> TestRequest? {
                let sent = Array(requests)
                return sent.count > (each.location == nil ? 0 : 1) ? sent.last : nil
            }
            let ours = last(server.requests.dropFirst(before))
            let curl = last(theirs["\(index)"] ?? [])
            if let difference = Self.differences[each.name] {
                let target = ours?.target.replacing("/dir\(index)/", with: "/dirN/")
                #expect(target.map(Ours.target) ?? .refused == difference.ours, "\(each.name)")
                #expect(ours?.target != curl?.target, "\(each.name): there is no difference")
                continue
            }
            #expect(
                Self.comparable(ours?.target, of: each.name)
                    == Self.comparable(curl.map { Self.encoded($0.target) }, of: each.name), "\(each.name)")
            for name in ["host", "authorization"] {
                #expect(
                    ours?.headers[name]?.lowercased() == curl?.headers[name]?.lowercased(), "\(each.name)")
            }
        }
    }

    // MARK: What is asked for

    /// Every mark of ASCII, beside a code.
    private static let marks = (0x21...0x7E).map { String(Unicode.Scalar($0)) }.filter {
        !$0.allSatisfy { $0.isLetter || $0.isNumber }
    }

    private static let targets = [
        // Feeds.
        "/track/traffic.libsyn.com/secure/show/Ep_1_-_Start.mp3?dest-id=123456",
        "/redirect.mp3/https://cdn.example.com/a.mp3?updated=1612345678",
        "/track/https://cdn.example.com/a.mp3",
        "/e/tag%3Asound%2C2010%3Atracks%2F3/media.mp3", "/Sounds%21_radio/a.mp3?d=ap&id=1",
        "/episodes/12.%20A%20title%20%28live%29.mp3", "/My%20Show%20[Ep%201].mp3",
        "/[Group]%20Show%20-%2001.mkv",
        "/it's(1)~.mp3", "/a;v=1.mp3", "/a;jsessionid=0A1B?x=1;y=2", "/a,b;c=d/e@f:g", "/AT&T+100%25.mp3",
        "/99%25%20Invisible.mp3", "/what?.mp3", "/what%3F.mp3", "/#1.mp3", "/%231.mp3",
        "/C%23%20and%20F%23.mp3",
        "/podcast.php?file=My+Show+%231.mp3&t=1%2C5", "/a.mp3?_=1&awCollectionId=[EPISODE_ID]&key={{id}}",
        "/a.mp3?aw_0_1st.playerid=Player App&x", "/a%20b|c.mp3", "/a|b.mp3", "/{id}.mp3", "/<title>.mp3",
        "/\"quoted\".mp3", "/`a`.mp3", "/a^b.mp3", "/a\\b.mp3", "/a%5Cb.mp3", "/..\\b.mp3", "/$1.00.mp3",
        "//double//slash.mp3", "/a//b", "///a", "/a/", "/a//",
        // Signatures.
        "/a.mp3?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F20260101%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-SignedHeaders=host&X-Amz-Signature=0a1b",
        "/a.mp3?AWSAccessKeyId=A&Expires=1&Signature=a%2Bb%2Fc%3D", "/a.mp3?sig=a+b/c=",
        "/a.mp3?sig=a%2Bb%2F%3D&t={x}",
        "/a.mp3?sv=2022-11-02&se=2026-01-01T00%3A00%3A00Z&sr=b&sp=r&sig=a%2Fb%3D",
        "/a?se=2026-01-01T00:00:00Z&sig=a/b=",
        "/a?GoogleAccessId=x%40y.iam&Expires=1&Signature=a%2B%0A",
        "/a?Policy=eyJ__&Signature=ab~c-_&Key-Pair-Id=K",
        "/a?hdnts=exp=1~acl=/*~hmac=0a", "/hdnts=exp=1~acl=/*!/a", "/a?token=a.b-c_d~e",
        "/a?u=https%3A%2F%2Fx.org%2F%3Fq%3D1",
        "/a?u=https://x.org/?q=1", "/a?x=[1]&y=%5B2%5D", "/a?filter={\"a\":1}", "/a?a=b=c==&&d", "/a?%20",
        "/a?a|b%7Cc",
        "/md5/0a1b/1700000000/a.mp4?e=1&h=a-b_c", "/a?x=%c3%a9&y=%C3%A9", "/a?X=%2f%2F",
        // Codes, and what looks like one.
        "/100%.mp3", "/100%", "/%", "/%%", "/%2", "/%zz", "/%G1%20", "/%2%30", "/%25", "/%2520", "/%252525",
        "/a?%", "/a?%zz%20",
        "/a?b=50%&c=%20", "/%00", "/%0D%0AX:%20y", "/%7Euser", "/%41", "/%e2%82%ac", "/a%2Fb", "/a%2f..%2fb",
        "/%3F%23", "/%C0%AF",
        "/%FF", "/%u00e9", "/a%20", "/%20a", "/+", "/%2B", "/a%", "/é%", "/é%20%", "/%é", "/%2é",
        // What is not ASCII.
        "/frågor.mp3", "/my%20frågor%20x.mp3", "/fr%C3%A5gor.mp3", "/p%C3%A9/é.mp3?q=%26ü", "/e\u{301}.mp3",
        "/é.mp3", "/日本語/第1話.mp3",
        "/%E6%97%A5本.mp3", "/Подкаст №1.mp3".replacing(" ", with: "%20"), "/🎧.mp3", "/a?e=🎧",
        "/\u{202E}3pm.a", "/\u{A0}a", "/a\u{3000}b",
        "/مرحبا", "/a–b—c…", "/“a”", "/ﬁ", "/\u{FEFF}a", "/a?q=Zoë&r=Zo%C3%AB", "/Ä#ö", "/\u{2028}",
        // Dots.
        "/.", "/..", "/...", "/./a", "/../a", "/a/.", "/a/..", "/a/./b", "/a/../b", "/a/../../b",
        "/a/b/../../../c", "/a/...", "/.a",
        "/..a", "/a..", "/a../b", "/..;/a", "/;/../a", "/a/%2e%2e/b", "/a/.%2e/b", "/%2E/a", "/%2e",
        "/a?x=../b", "/a?../..", "/a/../b?c=../d",
        "/a#../b", "//../a", "/a//../b", "/a/..//b", "/..%2fa", "/é/../ö",
        "/a%20b/../c d".replacing(" ", with: "%20"),
        // Queries and fragments.
        "", "/", "?", "?q=1", "?q=a/b", "/?", "/a.mp3?", "/a??", "/a?b?c", "/a?b/c:d@e", "#", "#f", "/#",
        "/a#t=30", "/a?b#c", "/a?b#c?d", "/a#b#c",
        "/a#b%zz é", "?#", "/?#", "/a?#f", "/a#", "/a#?b", "/a#/b", "/a?b#c/d",
        "/" + String(repeating: "a%20", count: 700),
    ]

    private static let urls =
        targets.map { "http://HOST\($0)" } + marks.map { "http://HOST/a\($0)b%20c?d" }
        + marks.map { "http://HOST/a?b\($0)c%2Fd" } + [
            "HTTP://HOST/A", "Http://HOST", "http://LOCALHOST:PORT/a", "http://localhost.:PORT/a",
            "http://127.0.0.1:0PORT/a",
            "http://user:pw@HOST/a", "http://user@HOST/a", "http://user:@HOST/a",
            "http://us%20er:p%40w%2F@HOST/a?b",
            "http://us[er:p|w@HOST/a%20b", "http://u:p:w@HOST/", "http://a%40b@HOST/[", "http://@HOST/a",
            "http://üser:pä@HOST/a",
            "http://bücher.localhost:PORT/a%20[b]", "http://xn--bcher-kva.localhost:PORT/é",
            "http://BÜCHER.localhost:PORT/",
            "http://日本.localhost:PORT/a", "http://faß.localhost:PORT/a", "http://ａ.localhost:PORT/a",
            "http://a_b.localhost:PORT/a",
            "http://-a.localhost:PORT/a", "http://127.1:PORT/a", "http://0x7f000001:PORT/a",
            "http://2130706433:PORT/a",
            "http://%3127.0.0.1:PORT/a",
            "http://HOST/my file.mp3", "http://HOST/a b?c d=e f", "http://HOST/a%20b c.mp3",
            "http://HOST/a.mp3? x", "http://us er@HOST/a",
            "HOST/a", "//HOST/a", "http:/HOST/a", "http:///HOST/a", "ftp2://HOST/a", "http://", "http://?",
            "http://HOST:x/a", "http://HOSTx/",
            "http://a b/", "http://[::1/a", "http://HOST\\@127.0.0.2/a", "http://127.0.0.2\\@HOST/a",
        ]

    private static let locations =
        [
            "x", "x/y", "./x", "../x", "../../x", "../../../x", "..", ".", "./", "../", "x/../y", "x/./y",
            "/x", "/x/../y", "/../x", "/./x",
            "//HOST/x", "//localhost:PORT/x?y", "http://HOST/x", "http://HOST", "http://HOST?q",
            "http://HOST#f", "HTTP://HOST/X",
            "http://HOST/a/../b", "http://HOST/a b", "http://localhost:PORT/my file%20[1].mp3", "?q=1", "?",
            "?a b", "?q=../x", "#f", "x#f",
            "x?y#z", "x?y?z", "x;y=1/../z", ";x", "/;x", "a;b", "/a:b", "./a:b", "x:y/z", "mailto:a@b",
            "/my file.mp3", "my file.mp3",
            "/a%20b c.mp3", "/My%20Show%20[Ep%201].mp3", "/a%20b|c.mp3", "/p%C3%A9/é.mp3?q=%26ü",
            "/frågor.mp3", "frågor.mp3?å=ä",
            "/日本語/第1話.mp3?第=話", "/🎧.mp3", "/100%.mp3", "/%zz", "/%2", "/%25", "/%2520", "/%2e%2e/x",
            "%2e%2e/x", "/a%2F..%2Fb",
            "/a.mp3?sig=a%2Bb%2F%3D&t={x}", "/a?sig=a+b/c=&u=https://x.org/?q=1 2",
            "/a?X-Amz-Signature=0a&x=[1]", "/a?b#c d",
            "/a\\b", "\\x", "/a\"b", "/a<b>", "/a`b", "/a^b", "/a{b}", "/a'(b)!*~$,", "/a//b", "///x", "//",
            "/", "/?", "/#", "/x?", "x//y",
            "http://user:pw@HOST/x", "//user:pw@HOST/x", "http://us%20er:p%40w@HOST/x",
            "http://bücher.localhost:PORT/x%20é",
            "//日本.localhost:PORT/x", "http://localhost.:PORT/x", "http:/HOST/a", "http:///HOST/a", "http:x",
            "http:?x", " /x", "\t/x", "/x ",
            "  http://HOST/x\t ", "/x\u{A0}", "/" + String(repeating: "é%20", count: 500), "/%00",
            "/a\u{7F}b", "/%0d%0aX: y", "/a?%",
            "/é%", "/%é", "http://HOST:PORT/", "http://127.0.0.1:1x/", "//[::1", "/[::1]/x",
            "http://HOST/[::1]",
        ] + marks.map { "/a\($0)b%20c" }

    /// As servers in Latin-1 send them: the bytes count.
    private static let latin1 = [
        "/fr\u{E5}gor.mp3", "fr\u{E5}gor%20\u{FC} x.mp3?\u{E4}=%20", "http://HOST/\u{E9}",
    ]

    private static func answer(to request: TestRequest, _ locations: [Data?]) -> TestAnswer {
        // Otherwise the connection would wait for an acknowledgement each time.
        let answer = TestAnswer(200, ["Connection": "close"], body: Data("content".utf8)).cut(after: 7, .drop)
        guard request.target.hasPrefix("/dir"), request.target.hasSuffix("/page?old=1"),
            let index = Int(request.target.dropFirst(4).prefix { $0.isNumber }),
            let location = locations[index], let host = request.headers["host"]
        else { return answer }
        var bytes = String(String.UnicodeScalarView(location.map { Unicode.Scalar($0) }))
        bytes = bytes.replacing("HOST", with: host).replacing(
            "PORT", with: host.split(separator: ":").last ?? "")
        let head =
            "HTTP/1.1 302 Found\r\nLocation: \(bytes)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        return .raw(head.data(using: .isoLatin1) ?? Data())
    }
}

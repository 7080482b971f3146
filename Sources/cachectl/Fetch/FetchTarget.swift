internal import PrefetchCaching
internal import PrefetchDownloading
internal import SystemPackage

#if canImport(FoundationNetworking)
    internal import Foundation
    internal import FoundationNetworking
#else
    internal import Foundation
#endif

/// A download named by an argument or by a line of a list.
struct FetchTarget: Hashable {
    /// Without user, password and fragment: safe to print.
    let url: URL
    let host: String
    let key: ItemKey
    /// SHA-256
    let digest: [UInt8]?
    /// The value of the `Authorization` header. Never printed.
    private let authorization: String?

    /// - Parameters:
    ///   - key: The item's key; `nil` for the URL without user and fragment.
    ///   - sha256: 64 hexadecimal digits.
    init(_ text: String, key: ItemKey? = nil, sha256: String? = nil) throws(FetchTargetError) {
        guard !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.isTerminalHazard }),
            var parts = URLComponents(string: text), ["http", "https"].contains(parts.scheme?.lowercased()),
            let host = parts.host, !host.isEmpty
        else { throw .notAURL(Self.withoutCredentials(text)) }
        authorization = parts.user.map { user in
            "Basic " + Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
        }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        guard let url = parts.url, let plainHost = url.host() else {
            throw .notAURL(Self.withoutCredentials(text))
        }
        self.url = url
        self.host = plainHost
        if let key {
            self.key = key
        } else {
            do {
                self.key = try ItemKey(url.absoluteString)
            } catch {
                throw .key("\(error)")
            }
        }
        digest = try sha256.map(Self.digest)
    }

    private static func digest(_ text: String) throws(FetchTargetError) -> [UInt8] {
        guard case .sha256(let bytes)? = ContentExpectation.sha256(hexadecimal: text) else {
            throw .digest(text)
        }
        return bytes
    }

    /// Elides everything from the scheme to the last `@`: in a malformed URL, any of it may be a password.
    private static func withoutCredentials(_ text: String) -> String {
        guard let end = text.lastIndex(of: "@") else { return text }
        let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] } ?? ""
        return scheme + "…" + text[end...]
    }

    /// The last path component of the URL, or the host if there is none.
    var fileName: FileName {
        let last = url.path(percentEncoded: true).split(separator: "/").last.map(String.init) ?? ""
        let name = last.removingPercentEncoding ?? last
        return FileName(sanitizing: name.isEmpty ? host : name)
    }

    var urlRequest: URLRequest {
        var request = URLRequest(url: url)
        if let authorization { request.setValue(authorization, forHTTPHeaderField: "Authorization") }
        return request
    }

    /// The targets without duplicates.
    ///
    /// - Throws: A usage failure if two different downloads have the same key.
    static func distinct(_ targets: [FetchTarget]) throws(CommandFailure) -> [FetchTarget] {
        var byKey: [ItemKey: FetchTarget] = [:]
        var distinct: [FetchTarget] = []
        for target in targets {
            guard let earlier = byKey.updateValue(target, forKey: target.key) else {
                distinct.append(target)
                continue
            }
            if earlier == target { continue }
            throw CommandFailure(
                .usage,
                "the key '\(target.key)' is used for two downloads, \(earlier.url) and \(target.url); "
                    + "list each download once, with its own key")
        }
        return distinct
    }
}

/// Why text does not specify a download.
enum FetchTargetError: Error, Hashable, CustomStringConvertible {
    case notAURL(String)
    case key(String)
    case digest(String)
    case columns(Int)

    var description: String {
        switch self {
        case .notAURL(let text):
            "'\(text)' is not a valid http or https URL; write for example https://example.org/episode.mp3"
        case .key(let problem): problem
        case .columns(let count):
            "\(count) columns are too many; a line has a URL, a key and a SHA-256 digest, separated by tabs"
        case .digest(let text): "'\(text)' is not a SHA-256 digest; write its 64 hexadecimal digits"
        }
    }
}

/// A list of downloads: one URL per line, optionally followed, each after a tab, by the item's key and the
/// SHA-256 digest of the content.
struct FetchList {
    /// In bytes. 100,000 URLs of typical length take a tenth of it.
    static let largestLength = 64 << 20
    private static let pieceLength = 1 << 20

    let targets: [FetchTarget]

    /// - Parameter file: A path, or `-` for standard input.
    init(_ file: FilePath) throws(CommandFailure) {
        let input = try InputFile(file)
        var content = Data()
        var piece = Data(count: Self.pieceLength)
        while true {
            let count = try input.read(into: &piece)
            content += piece.prefix(count)
            if count < piece.count { break }
            guard content.count <= Self.largestLength else {
                throw CommandFailure(.usage, "\(input.name) is too long for a list; the limit is 64 MiB")
            }
        }
        try self.init(content, name: input.name)
    }

    /// - Parameter name: The name of the file, for errors.
    init(_ content: Data, name: String) throws(CommandFailure) {
        var targets: [FetchTarget] = []
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, bytes) in lines.enumerated() {
            guard let line = String(validating: bytes, as: UTF8.self) else {
                throw CommandFailure(.usage, "\(name), line \(index + 1): this is not UTF-8")
            }
            do throws(FetchTargetError) {
                if let target = try Self.target(line) { targets.append(target) }
            } catch {
                throw CommandFailure(.usage, "\(name), line \(index + 1): \(error)")
            }
        }
        self.targets = targets
    }

    private static func target(_ line: String) throws(FetchTargetError) -> FetchTarget? {
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            .map { String($0.trimmed) }
        guard let url = columns.first, !url.isEmpty || columns.count > 1, !url.hasPrefix("#") else {
            return nil
        }
        guard columns.count <= 3 else { throw .columns(columns.count) }
        var key: ItemKey?
        if columns.count > 1, !columns[1].isEmpty {
            do {
                key = try ItemKey(columns[1])
            } catch {
                throw .key("\(error)")
            }
        }
        let digest = columns.count > 2 && !columns[2].isEmpty ? columns[2] : nil
        return try FetchTarget(url, key: key, sha256: digest)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}

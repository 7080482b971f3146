internal import Foundation
internal import PrefetchCaching
internal import PrefetchDownloading
internal import SystemPackage

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A download named by an argument or by a line of a list.
struct FetchTarget: Hashable {
    /// Without user, password and fragment: safe to print.
    let url: URL
    let host: String
    let key: ItemKey
    /// SHA-256
    let digest: [UInt8]?
    /// Whether the key was given.
    private let isKeyGiven: Bool
    /// The value of the `Authorization` header. Never printed.
    private let authorization: String?

    /// - Parameter key: The item's key; `nil` for that of the URL, see `ItemKey.init(of:)`.
    init(_ text: String, key: ItemKey? = nil, sha256: String? = nil) throws {
        guard let written = URL(asWritten: text), ["http", "https"].contains(written.scheme?.lowercased()),
            let host = written.host(), !host.isEmpty,
            let parts = URLComponents(url: written, resolvingAgainstBaseURL: false)
        else { throw FetchTargetError.notAURL(Self.withoutCredentials(text)) }
        authorization = parts.user.map { user in
            "Basic " + Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
        }
        url = written.withoutUserAndFragment
        self.host = host
        self.key = try key ?? ItemKey(of: url)
        isKeyGiven = key != nil
        digest = try sha256.map { text in
            guard case .sha256(let bytes)? = ContentExpectation.sha256(hexadecimal: text) else {
                throw FetchTargetError.digest(text)
            }
            return bytes
        }
    }

    /// Elides everything from the scheme to the last `@`: in a malformed URL, any of it may be a password.
    private static func withoutCredentials(_ text: String) -> String {
        guard let end = text.lastIndex(of: "@") else { return text }
        let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] } ?? ""
        return scheme + "…" + text[end...]
    }

    /// The last path component of the URL, or the host if there is none.
    var fileName: FileName {
        let last = url.namedFile ?? ""
        let name = last.removingPercentEncoding ?? last
        return FileName(sanitizing: name.isEmpty ? host : name)
    }

    /// The path of the file in a bundle: what a single file would have as its key, or its name.
    var pathInBundle: FolderPath {
        get throws(CommandFailure) {
            do {
                return isKeyGiven ? try FolderPath(key.string) : try FolderPath([fileName])
            } catch {
                throw .usage("'\(key)' is no path of a file in a bundle: \(error)")
            }
        }
    }

    var urlRequest: URLRequest {
        var request = URLRequest(url: url)
        if let authorization { request.setValue(authorization, forHTTPHeaderField: "Authorization") }
        return request
    }

    /// The targets without duplicates, and what is wrong with those whose key another download has.
    static func distinct(_ targets: [FetchTarget]) -> (targets: [FetchTarget], failures: [CommandFailure]) {
        var byKey: [ItemKey: FetchTarget] = [:]
        var (distinct, failures): ([FetchTarget], [CommandFailure]) = ([], [])
        for target in targets {
            guard let earlier = byKey[target.key] else {
                byKey[target.key] = target
                distinct.append(target)
                continue
            }
            guard earlier != target else { continue }
            failures.append(
                .usage(
                    "the key '\(target.key)' is used for two downloads, \(earlier.url) and \(target.url), of which the "
                        + "first is fetched; list each download once, with its own key"))
        }
        return (distinct, failures)
    }

    /// Reads a list of downloads: one URL per line, optionally followed, each after a tab, by the item's key and the
    /// SHA-256 digest of the content.
    ///
    /// - Parameter file: A path, or `-` for standard input.
    /// - Returns: The downloads, and what is wrong with the lines that are none.
    static func list(in file: FilePath) throws(CommandFailure)
        -> (targets: [FetchTarget], failures: [CommandFailure])
    {
        let input = try InputFile(file)
        // 100,000 URLs of typical length take a tenth of it.
        var content = Data(count: 64 << 20 + 1)
        let length = try input.read(into: &content)
        guard length < content.count else {
            throw .usage("\(input.name) is too long for a list; the limit is 64 MiB")
        }
        var (targets, failures): ([FetchTarget], [CommandFailure]) = ([], [])
        // Some editors begin a file with a byte order mark.
        let lines = content.prefix(length).trimmingPrefix([0xEF, 0xBB, 0xBF]).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, bytes) in lines.enumerated() {
            do {
                guard let line = String(validating: bytes, as: UTF8.self) else {
                    throw FetchTargetError.notUTF8
                }
                if let target = try Self.target(line) { targets.append(target) }
            } catch {
                failures.append(.usage("\(input.name), line \(index + 1): \(error)"))
            }
        }
        return (targets, failures)
    }

    private static func target(_ line: String) throws -> FetchTarget? {
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        guard let url = columns.first, !url.isEmpty || columns.count > 1, !url.hasPrefix("#") else {
            return nil
        }
        guard columns.count <= 3 else { throw FetchTargetError.columns(columns.count) }
        func column(_ index: Int) -> String? {
            index < columns.count && !columns[index].isEmpty ? columns[index] : nil
        }
        return try FetchTarget(url, key: column(1).map { try ItemKey($0) }, sha256: column(2))
    }
}

/// Why text does not specify a download.
enum FetchTargetError: Error, Hashable, CustomStringConvertible {
    case notAURL(String)
    case digest(String)
    case columns(Int)
    case notUTF8

    var description: String {
        switch self {
        case .notAURL(let text):
            "'\(text)' is not a valid http or https URL; write for example https://example.org/episode.mp3"
        case .columns(let count):
            "\(count) columns are too many; a line has a URL, a key and a SHA-256 digest, separated by tabs"
        case .notUTF8: "this is not UTF-8"
        case .digest(let text): "'\(text)' is not a SHA-256 digest; write its 64 hexadecimal digits"
        }
    }
}

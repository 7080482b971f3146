internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

/// Passes arguments that are not UTF-8 through ArgumentParser, which takes strings. Each invalid byte is escaped as
/// NUL, which no argument contains, followed by `xFF` in hexadecimal. Only paths are converted back to bytes; all
/// other values reject such bytes.
enum ArgumentBytes {
    private static let mark: UInt8 = 0

    /// The arguments of the process, without its name.
    static var ofProcess: [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { CommandLine.unsafeArgv[$0] }
            .map { text(of: Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))) }
    }

    static func text(of bytes: [UInt8]) -> String { String(bytes, escapingWith: "\0") }

    /// A message that quotes arguments, with the escapes made printable.
    static func shown(_ message: String) -> String { message.replacing("\0", with: "\\") }

    fileprivate static func isText(_ argument: String) -> Bool { !argument.utf8.contains(mark) }

    fileprivate static func bytes(of argument: String) throws(NotText) -> [UInt8] {
        let parts = argument.utf8.split(separator: mark, omittingEmptySubsequences: false)
        var bytes = Array(parts[0])
        for part in parts.dropFirst() {
            guard part.count >= 3, let byte = UInt8(Substring(part.dropFirst().prefix(2)), radix: 16) else {
                throw NotText()
            }
            bytes.append(byte)
            bytes += part.dropFirst(3)
        }
        return bytes
    }
}

/// Why an argument is not text. ArgumentParser names the argument.
struct NotText: Error, CustomStringConvertible {
    var description: String { "it is not UTF-8; only paths may contain arbitrary bytes" }
}

// Parsers for options and arguments.

extension String {
    static func parse(_ argument: String) throws -> String {
        guard ArgumentBytes.isText(argument) else { throw NotText() }
        return argument
    }
}

extension FilePath {
    /// Preserves bytes that are not UTF-8.
    static func parse(_ argument: String) throws -> FilePath {
        FilePath(bytes: try ArgumentBytes.bytes(of: argument))
    }
}

extension ItemKey {
    static func parse(_ argument: String) throws -> ItemKey { try ItemKey(.parse(argument)) }
}

extension FolderPath {
    static func parse(_ argument: String) throws -> FolderPath { try FolderPath(.parse(argument)) }
}

extension FileName {
    /// Rejects an invalid name instead of sanitising it: the user asked for exactly this one.
    static func parse(_ argument: String) throws -> FileName { try FileName(.parse(argument)) }
}

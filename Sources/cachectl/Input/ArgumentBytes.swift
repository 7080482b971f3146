internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Arguments of the process are bytes, and ArgumentParser wants text. So a byte that is not UTF-8 is written as
/// NUL, which no argument contains, and as `xFF`. Only paths are turned back into bytes: all other values are text,
/// and refuse such bytes.
enum ArgumentBytes {
    private static let mark: UInt8 = 0

    /// The arguments of the process, without its name.
    static var ofProcess: [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { CommandLine.unsafeArgv[$0] }
            .map { text(of: Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))) }
    }

    static func text(of bytes: [UInt8]) -> String { String(bytes, escapingWith: "\0") }

    /// A message that quotes arguments, made readable.
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
    var description: String { "it is not UTF-8; only the names of files and folders may have any bytes" }
}

// The parsers of options and arguments of these types.

extension String {
    static func parse(_ argument: String) throws -> String {
        guard ArgumentBytes.isText(argument) else { throw NotText() }
        return argument
    }
}

extension FilePath {
    /// Byte for byte.
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
    /// An invalid name is refused rather than changed: the user asked for this one.
    static func parse(_ argument: String) throws -> FileName { try FileName(.parse(argument)) }
}

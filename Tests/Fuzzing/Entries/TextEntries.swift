import Foundation
import PrefetchCaching
import SystemPackage

@testable import PrefetchStorageAreas
@testable import cachectl

/// The content of `user-dirs.dirs`.
func fuzzUserDirectories(_ input: [UInt8]) throws {
    let directories = UserDirectories(parsing: input)
    for key in ["XDG_DOCUMENTS_DIR", "XDG_DOWNLOAD_DIR"] {
        let path = directories.path(of: key, home: "/home/user")
        try require(path?.isAbsolute ?? true, "a folder is absolute")
        try require(!(path?.string.utf8.contains(0) ?? false), "a path ends where it ends")
        let homeless = directories.path(of: key, home: nil)
        try require(homeless == nil || homeless == path, "only $HOME depends on the home folder")
    }
    try require(
        directories == UserDirectories(parsing: input + Array("\n# end".utf8)), "comments say nothing")
    // Neither a newline nor a NUL can be written in this format.
    let name = [0x2F] + input.filter { $0 != 0 && $0 != 0x0A }
    let line = Array("XDG_DOCUMENTS_DIR=\"/".utf8) + name.dropFirst().flatMap { [0x5C, $0] } + [0x22]
    try require(
        UserDirectories(parsing: line).path(of: "XDG_DOCUMENTS_DIR", home: nil)
            == FilePath(platformString: name.map(CChar.init(bitPattern:)) + [0]), "any name can be escaped")
}

/// Sizes, ranges, intervals, lifetimes and priorities, as arguments have them.
func fuzzCommandLine(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    do {
        let size = try ByteSize.parse(text)
        try require(size.bytes >= 0, "a size is not negative")
        try require(try ByteSize.parse("\(size.bytes)") == size, "and can be written as bytes")
    } catch is ByteSizeError {}
    do {
        let range = try ByteRange(text)
        try require(try ByteRange(range.description) == range, "a range is what it prints")
        for length in [0, 1, 1000, Int64.max] {
            do {
                let bytes = try range.resolved(length: length)
                try require(bytes.lowerBound >= 0 && bytes.upperBound <= length, "within the content")
            } catch is ByteRangeError {}
        }
    } catch is ByteRangeError {}
    do {
        let duration = try Interval(text).duration
        try require(duration >= Interval.shortest && duration <= Interval.longest, "no other interval")
    } catch is IntervalError {}
    do {
        let lifetime = try Lifetime(text)
        try require(lifetime.milliseconds >= 0, "a lifetime is not negative")
        for now in [Int64.min, -1000, 0, .max] {
            try require(lifetime.end(from: now) >= min(now, .max - 1), "it ends after it begins")
            try require(lifetime.start(before: now) <= now, "and began before it ends")
        }
    } catch is LifetimeError {}
    do {
        try require((0...1).contains(try Priority.parse(text)), "a priority is 0 to 1")
    } catch is PriorityError {}
}

/// Display names, folders and keys.
func fuzzNames(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    let name = FileName(sanitizing: text)
    try requireName(name.string)
    try require(FileName(sanitizing: name.string) == name, "a name stays as it is")
    for number in [2, 17, .max] { try requireName(name.numbered(number).string) }
    do {
        try require(try FileName(text) == name, "what is a name is not changed")
    } catch is FileNameError {
        try require(!name.string.utf8.elementsEqual(text.utf8), "and what is none is")
    }
    do {
        let path = try FolderPath(text)
        try require(path.string.utf8.elementsEqual(text.utf8), "a folder is what was given")
        try require((1...8).contains(path.components.count), "of 1 to 8 components")
        for component in path.components { try requireName(component.string) }
    } catch is FolderPathError {}
    do {
        let key = try ItemKey(text)
        try require((1...1024).contains(key.string.utf8.count), "a key has 1 to 1,024 bytes")
        try require(!key.string.utf8.contains(0), "and no NUL")
    } catch is ItemKeyError {}
}

/// The rules of a name, written down once more.
func requireName(_ name: String) throws {
    try require((1...255).contains(name.utf8.count), "a name has 1 to 255 bytes")
    try require(name.utf8.first != UInt8(ascii: "."), "a name does not begin with a dot")
    for scalar in name.unicodeScalars {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2F, 0x5C, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
            throw BrokenProperty(description: "a name has no U+\(String(scalar.value, radix: 16))")
        default: break
        }
    }
}

/// What is printed: JSON, pages, and text for a terminal.
func fuzzOutput(_ input: [UInt8]) throws {
    struct Printed: Codable, Equatable {
        let text: String
        let list: [String]
        let number: Int64
    }
    let text = String(decoding: input, as: UTF8.self)
    let number = input.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let printed = Printed(text: text, list: [text, ""], number: number)
    for isPretty in [false, true] {
        let json = try JSON.text(of: printed, isPretty: isPretty)
        let parsed = try JSONDecoder().decode(Printed.self, from: Data(json.utf8))
        try require(
            parsed.text.utf8.elementsEqual(text.utf8) && parsed.number == number, "JSON says what was given")
        try require(!hasHazard(json, except: isPretty ? "\n" : nil), "JSON is harmless on a terminal")
    }
    try require(!hasHazard(text.escapedForTerminal, except: nil), "escaped text is harmless")
    let page = HTML.text(text)
    try require(!page.contains { "<>\"'".contains($0) } && !hasHazard(page, except: nil), "no markup")
    let bytes = Size.text(number)
    try require(!bytes.isEmpty && bytes.utf8.count < 32, "a size is short")
    try require(!Timestamp.text(milliseconds: number).isEmpty, "every time can be printed")
}

private func hasHazard(_ text: String, except allowed: Unicode.Scalar?) -> Bool {
    text.unicodeScalars.contains { scalar in
        guard scalar != allowed else { return false }
        return switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

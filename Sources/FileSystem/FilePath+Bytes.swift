package import SystemPackage

extension FilePath {
    /// The bytes of the path.
    package var bytes: [UInt8] {
        withPlatformString { UnsafeBufferPointer(start: $0, count: length).map { UInt8(bitPattern: $0) } }
    }

    /// Creates a path from its bytes, none of which is 0.
    package init(bytes: some Sequence<UInt8>) {
        self.init(platformString: bytes.map(CInterop.PlatformChar.init(bitPattern:)) + [0])
    }

    /// Whether the path is UTF-8, as JSON has to be.
    package var isText: Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// The path as text: bytes that are not UTF-8 are written as `\xFF`, one by one.
    package var displayText: String { String(bytes, escapingWith: "\\") }
}

extension String {
    /// Text from bytes: those that are not UTF-8 are written in hexadecimal, one by one, each after `mark` and `x`.
    package init(_ bytes: [UInt8], escapingWith mark: String) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self = text
            return
        }
        self = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            // A scalar has at most four bytes.
            let scalar = (1...min(4, rest.count)).lazy
                .compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
            if let scalar {
                self += scalar
                rest = rest.dropFirst(scalar.utf8.count)
            } else {
                let digits = String(rest[rest.startIndex], radix: 16, uppercase: true)
                self += mark + "x" + String(repeating: "0", count: 2 - digits.count) + digits
                rest = rest.dropFirst()
            }
        }
    }
}

package import SystemPackage

extension Array where Element == UInt8 {
    /// `withUnsafeBytes` with a typed error.
    @inlinable
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { buffer throws(Failure) in try body(UnsafeRawBufferPointer(buffer)) }
    }

    /// `withUnsafeMutableBytes` with a typed error.
    @inlinable
    package mutating func withMutableBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeMutableBufferPointer { buffer throws(Failure) in
            try body(UnsafeMutableRawBufferPointer(buffer))
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes in `range`, rebased to start at index 0.
    @inlinable
    package func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The bytes in `range`, rebased to start at index 0.
    @inlinable
    package func slice(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self[range])
    }
}

extension FilePath {
    /// The bytes of the path.
    package var bytes: [UInt8] {
        withPlatformString { UnsafeBufferPointer(start: $0, count: length).map { UInt8(bitPattern: $0) } }
    }

    /// Creates a path from its bytes, none of which is 0.
    package init(bytes: some Sequence<UInt8>) {
        self.init(platformString: bytes.map(CInterop.PlatformChar.init(bitPattern:)) + [0])
    }

    /// Whether the path is valid UTF-8, as JSON requires.
    package var isText: Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// The path as text, with each byte that is not UTF-8 escaped as `\xFF`.
    package var displayText: String { String(bytes, escapingWith: "\\") }
}

extension String {
    /// Decodes UTF-8. Each invalid byte is escaped as `mark`, `x` and two hexadecimal digits.
    package init(_ bytes: [UInt8], escapingWith mark: String) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self = text
            return
        }
        self = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            // A UTF-8 scalar has at most four bytes.
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

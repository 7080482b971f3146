package import SystemPackage

extension FileName {
    /// Shorter names are not tried: every file system takes this one.
    private static let shortest = 32

    /// The characters that FAT and exFAT refuse, beside those that no name may have.
    private static let refusedByFAT: Set<Unicode.Scalar> = ["\"", "*", ":", "<", ">", "?", "|"]

    /// A similar name, for a file system that has refused this one: for `ENAMETOOLONG` one with a shorter stem, else
    /// one without the characters that some file systems refuse, and then one in ASCII.
    ///
    /// - Returns: `nil` when there is nothing left to change.
    package func adapted(to errno: Errno) -> FileName? {
        if errno == .fileNameTooLong {
            let limit = string.utf8.count * 3 / 4
            guard limit >= Self.shortest else { return nil }
            return different(shortened(to: limit).string)
        }
        return different(replacing { Self.refusedByFAT.contains($0) }) ?? different(replacing { !$0.isASCII })
    }

    /// The same name, or if it has more bytes one with a shorter stem. At least 50 bytes leave room for the extension.
    package func shortened(to bytes: Int) -> FileName {
        string.utf8.count > bytes ? FileName(checked: NameParts(string).joined(limit: bytes)) : self
    }

    private func replacing(where isRefused: (Unicode.Scalar) -> Bool) -> String {
        var scalars = String.UnicodeScalarView(string.unicodeScalars.map { isRefused($0) ? "_" : $0 })
        // FAT drops dots and spaces at the end.
        while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
        return String(scalars)
    }

    private func different(_ string: String) -> FileName? {
        let name = FileName(sanitizing: string)
        return name == self ? nil : name
    }
}

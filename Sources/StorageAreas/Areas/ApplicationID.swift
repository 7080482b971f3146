internal import SystemPackage

/// An app's identifier, checked to be a safe folder name on every platform.
struct ApplicationID {
    let component: FilePath.Component

    /// Accepts 1 to 255 of `A–Z a–z 0–9 . _ -`, not beginning with `.` or `-`: a hidden folder, or one
    /// that looks like an option of a command, would surprise the user.
    ///
    /// - Throws: ``StorageAreasError/invalidApplicationID(_:)``
    init(_ string: String) throws(StorageAreasError) {
        let bytes = string.utf8
        guard (1...255).contains(bytes.count),
            bytes.allSatisfy(Self.isAllowed),
            bytes.first != UInt8(ascii: "."), bytes.first != UInt8(ascii: "-"),
            let component = FilePath.Component(string)
        else { throw .invalidApplicationID(string) }
        self.component = component
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

import Foundation

/// The file system that is measured on, as the kernel describes it: figures of different ones are not comparable.
struct Volume: CustomStringConvertible {
    private let type: String
    private let device: String
    /// `nil` for all but ext4, which may have been made without one.
    private let hasJournal: Bool?

    /// - Returns: `nil` where the kernel does not say, as on Darwin.
    init?(of folder: String) {
        var attributes = stat()
        // What cannot be read is not known, and no reason not to measure.
        guard stat(folder, &attributes) == 0,
            let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        else { return nil }
        let number = Self.number(of: UInt64(attributes.st_dev))
        // 36 35 98:0 / /mnt rw,noatime master:1 - ext4 /dev/vda rw
        let mount = mounts.split(separator: "\n").last { line in
            line.split(separator: " ").dropFirst(2).first.map(String.init) == number
        }
        guard let mount, let separator = mount.range(of: " - ") else { return nil }
        let fields = mount[separator.upperBound...].split(separator: " ")
        guard fields.count > 1 else { return nil }
        type = String(fields[0])
        device = String(fields[1])
        hasJournal = type == "ext4" ? Self.hasJournal(number) : nil
    }

    /// As in `mountinfo`: the major and the minor number, as `gnu_dev_makedev(3)` packs them.
    private static func number(of device: UInt64) -> String {
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & ~0xFF
        return "\(major):\(minor)"
    }

    /// A journal that is in use has a folder of statistics, named after its device.
    private static func hasJournal(_ number: String) -> Bool? {
        let manager = FileManager.default
        // As above.
        guard let device = try? manager.destinationOfSymbolicLink(atPath: "/sys/dev/block/\(number)"),
            let journals = try? manager.contentsOfDirectory(atPath: "/proc/fs/jbd2")
        else { return nil }
        let name = URL(filePath: device).lastPathComponent
        return journals.contains { $0.hasPrefix("\(name)-") }
    }

    var description: String {
        switch hasJournal {
        case true?: "\(type) with a journal, on \(device)"
        case false?:
            """
            \(type) without a journal, on \(device): where files were deleted, new ones are slow to make for minutes; \
            Benchmarks/journalled measures on one with a journal
            """
        case nil: "\(type), on \(device)"
        }
    }
}

internal import Foundation
internal import Synchronization

/// Watches the process that it is in: its threads, its descriptors, and how long this machine lets a plain read wait.
final class Vitals: Sendable {
    /// The name of what the machine itself took, beside which calls of the cache are judged.
    static let plainRead = "plain read"

    private let notes: Notebook
    private let container: URL
    private let isOver = Atomic<Bool>(false)

    /// - Parameter container: What the descriptors at the end must not point into.
    init(_ notes: Notebook, container: URL) throws {
        self.notes = notes
        self.container = container
        try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
        let file = container.appending(path: "plain-\(UUID().uuidString)")
        try Data(repeating: 1, count: 4096).write(to: file)
        Thread.detachNewThread { [self] in watch(file) }
    }

    private func watch(_ file: URL) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !isOver.load(ordering: .relaxed) {
            let start = ContinuousClock.now
            usleep(10_000)
            let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
            if descriptor >= 0 {
                _ = read(descriptor, &buffer, buffer.count)
                close(descriptor)
            }
            notes.took(start.duration(to: .now) - .milliseconds(10), Self.plainRead)
            if let threads = Self.entries("/proc/self/task") { notes.saw(threads.count, "threads") }
            if let descriptors = Self.entries("/proc/self/fd") { notes.saw(descriptors.count, "descriptors") }
        }
        unlink(file.path)
    }

    /// Ends the watch. The cache is closed and nobody has it any more: nothing of its container may be open, and no more
    /// threads be there than wait for work.
    func end(idleThreads: Int) async throws {
        isOver.store(true, ordering: .relaxed)
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            let open = openFiles()
            let threads = Self.entries("/proc/self/task")?.count ?? 0
            if open.isEmpty, threads <= idleThreads { return }
            if ContinuousClock.now > deadline {
                if !open.isEmpty {
                    let names = open.map { $0.dropFirst(container.path.count) }.sorted().joined(
                        separator: ", ")
                    notes.fault("descriptors: left open: \(names)")
                }
                if threads > idleThreads {
                    notes.fault("threads: \(threads) are left where \(idleThreads) may be")
                }
                return
            }
            // Nothing tells when idle threads of a pool end.
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func openFiles() -> [String] {
        (Self.entries("/proc/self/fd") ?? []).compactMap { name in
            var target = [CChar](repeating: 0, count: 4096)
            let length = readlink("/proc/self/fd/\(name)", &target, target.count)
            guard length > 0 else { return nil }
            let path = String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            return path.hasPrefix(container.path) ? path : nil
        }
    }

    private static func entries(_ path: String) -> [String]? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

package import Foundation

/// A container such as every app has, in the system's temporary folder.
package enum Workspace {
    /// Creates a container, and removes it when `body` ends, in any case.
    ///
    /// - Parameter name: The name of the program, as a part of the container's name.
    package static func with<Result>(
        named name: String, keepsContainer: Bool = false, _ body: (URL) async throws -> Result
    ) async throws -> Result {
        let container = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "PrefetchCache-\(name)-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: container, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        do {
            let result = try await body(container)
            try end(container, keepsContainer)
            return result
        } catch {
            try end(container, keepsContainer)
            throw error
        }
    }

    private static func end(_ container: URL, _ keepsContainer: Bool) throws {
        guard keepsContainer else { return try FileManager.default.removeItem(at: container) }
        let path = container.path(percentEncoded: false)
        print(
            """

            The container stays. Look at it from the checkout:
              swift run cachectl --container '\(path)' stats
              swift run cachectl --container '\(path)' list
            and remove it when you are done:
              rm -r '\(path)'
            """)
    }
}

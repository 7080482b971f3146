import Foundation
import Testing

/// The executables of this package that lie beside the tests.
enum BuiltProduct {
    static func named(_ name: String) throws -> URL {
        let file = Bundle.main.bundleURL.appending(path: name, directoryHint: .notDirectory)
        if FileManager.default.isExecutableFile(atPath: file.path) { return file }
        // Where tests run inside a helper process, the test bundle tells the folder.
        let bundle = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") })
        return bundle.bundleURL.deletingLastPathComponent().appending(path: name)
    }
}

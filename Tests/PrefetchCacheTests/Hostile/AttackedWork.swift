import FileSystem
import FileSystemTestSupport
import Foundation
import SystemPackage
import Testing

@testable import PrefetchCache

/// Everything that a cache does, on a container that somebody attacks meanwhile: what fails does not keep the rest
/// from being tried.
final class AttackedWork {
    static let text = prose(9000)
    static let film = noise(20_000)
    /// More than a chunk, so that something of it is kept.
    private static let broken = noise(1_200_000)

    let container: TemporaryContainer
    /// What was served that is not what was stored.
    private(set) var wrongAnswers: [String] = []
    /// What was handed over, and shall stay whatever happens.
    private(set) var handedOver: [FilePath: Data] = [:]
    /// What did not work.
    private(set) var failures: [String] = []

    init(_ container: TemporaryContainer) {
        self.container = container
    }

    func run(on fileSystem: any FileSystem) {
        var engine: Engine?
        attempt {
            engine = try container.engine(fileSystem: fileSystem)
        }
        guard let engine else { return }
        attempt { try engine.store(Self.text, "text") }
        attempt { try engine.store(Self.film, "film", in: "Films") }
        attempt { try engine.store(Self.film, "hidden", to: .applicationSupport) }
        attempt { try engine.store(Self.text, "stays") }
        attempt { try engine.store(Self.text, "damaged") }
        attempt { try engine.flush() }
        attempt { try Self.keepAPartial(engine) }
        // What was opened is its user's: whoever exchanges that file has changed it.
        check("stays", Self.text, engine)
        open("text", Self.text, engine)
        open("film", Self.film, engine)
        open("hidden", Self.film, engine)
        attempt { try Self.damage(container.item("damaged")) }
        check("damaged", Self.text, engine)
        attempt { try engine.configure(CacheConfiguration(budget: .fixed(.mebibytes(8)))) }
        attempt { _ = try engine.remove("stays") }
        attempt { try engine.store(Self.text, "stays") }
        attempt { _ = try engine.evict(1) }
        attempt { try engine.maintain() }
        attempt { _ = try engine.forget("text") }
        attempt { try engine.close() }
    }

    private static func keepAPartial(_ engine: Engine) throws {
        guard
            case .begun(let store) = try engine.beginStore(
                ItemMetadata("partial"), encoding: .forced(.identity), expectedLength: nil,
                keepingPartial: true)
        else { return }
        guard try broken.withBytes({ bytes throws(CacheError) in try store.append(bytes) }) == nil
        else { return }
        _ = try store.suspend()
        guard let partial = try engine.partial(of: "partial"),
            case .begun(let resumed) = try engine.resume(partial, replay: { _ in })
        else { return }
        _ = try resumed.commit()
    }

    /// An answer may be missing, but not another one.
    private func check(_ key: ItemKey, _ content: Data, _ engine: Engine) {
        attempt {
            guard let answer = try engine.content(key), answer != content else { return }
            wrongAnswers.append("\(key)")
        }
    }

    private func open(_ key: ItemKey, _ content: Data, _ engine: Engine) {
        attempt {
            guard let file = try engine.open(key).value else { return }
            handedOver[file.path] = content
        }
    }

    /// As a disk does: in the place of the file, which may be anybody's by now.
    private static func damage(_ file: URL) throws {
        guard var content = FileManager.default.contents(atPath: file.path), content.count > 84 else {
            return
        }
        for index in 20..<84 { content[index] ^= 0xFF }
        try content.write(to: file, options: .atomic)
    }

    private func attempt(_ step: () throws -> Void) {
        do {
            try step()
        } catch let error as CacheError {
            failures.append("\(error)")
        } catch let error as FileSystemError {
            failures.append("\(error)")
        } catch {
            Issue.record(error)
        }
    }
}

import FileSystemTestSupport
import PrefetchFileSystem
import SystemPackage

@testable import PrefetchCaching

/// Several items opened by one call.
extension CrashWorkload {
    static var together: [CrashWorkload] {
        [
            mixed, sharedNameTogether, sameContentTogether, inFolders,
            crossingTogether(documents), crossingTogether(documents.appending("Podcasts")),
            quickly("one", [text]), quickly("one that is copied", [film]),
            quickly("three", [text, film, more]),
        ]
    }

    private static let more = SimulatedItem("more.txt", .lz4, length: 5000, seed: 3)
    private static let clip = SimulatedItem("clip.mp4", .identity, length: 5000, seed: 4)

    private static func opening(_ name: String, together items: [SimulatedItem]) -> CrashWorkload {
        let keys = items.map(\.key)
        return CrashWorkload(name: "together, \(name)", kept: items) { world in
            try world.open(keys, world.engine())
        }
    }

    /// As several tasks open them.
    private static func quickly(_ name: String, _ items: [SimulatedItem]) -> CrashWorkload {
        CrashWorkload(name: "quickly, \(name)", kept: items) { world in
            let outcomes = try world.engine(longestCopy: .max).openQuickly(items.map(\.key), for: .never)
            for case .some(let outcome) in outcomes {
                if case .hit(let opened) = try outcome.get() { world.note(opened) }
            }
        }
    }

    /// Decoded and renamed ones, of either one whose name is taken, and keys without an item.
    private static var mixed: CrashWorkload {
        let items = [text, film, more, clip]
        let keys = items.map(\.key) + ["nothing", text.key]
        var workload = CrashWorkload(name: "together, LZ4, identity, and taken names", kept: items) { world in
            try world.open(keys, world.engine())
        }
        workload.foreign = [
            documents.appending("more.txt").string: strange,
            documents.appending("clip.mp4").string: strange,
        ]
        return workload
    }

    private static var sharedNameTogether: CrashWorkload {
        let first = SimulatedItem("one", .lz4, seed: 5)
        var second = SimulatedItem("two", .identity, seed: 6)
        second.metadata.destination = first.metadata.destination
        return opening("one name for two keys", together: [first, second, text])
    }

    /// One file is there already, and is adopted.
    private static var sameContentTogether: CrashWorkload {
        var workload = opening("identical files", together: [text, film])
        workload.foreign = [
            documents.appending("text.txt").string: text.content,
            documents.appending("film.mp4").string: film.content,
        ]
        return workload
    }

    private static func placed(_ items: [SimulatedItem]) -> [SimulatedItem] {
        items.map { item in
            var item = item
            item.metadata.destination = .documents(
                item.destination.name, in: SimulatedWorld.folder, backup: .include)
            return item
        }
    }

    private static var inFolders: CrashWorkload {
        let data = SimulatedItem("data.zip", .identity, seed: 8, area: .applicationSupport, backup: .exclude)
        return opening("three folders", together: placed([text]) + [film, data, more])
    }

    private static func crossingTogether(_ volume: FilePath) -> CrashWorkload {
        let name = volume.lastComponent?.string ?? ""
        var workload = opening("\(name) on another volume", together: placed([text, film]) + [more])
        workload.otherVolume = volume
        return workload
    }

    /// Another process evicts one of the items in the middle of the promotion of them all.
    static func togetherBesideEviction(at moment: Int) -> CrashWorkload {
        var workload = opening("together beside an eviction at \(moment)", [film], at: moment) { world in
            let engine = try world.engine()
            let files = CacheFiles(folders: engine.folders, session: engine.session, parallelism: 1)
            let victim = Victim(
                hash: film.key.hash, key: film.key.string, kind: .item, chargedBytes: 0, priority: 0)
            _ = try files.removal(of: victim).get()
        } _: { world, engine in
            try world.open([text.key, film.key, more.key], engine)
        }
        // Evicted before it was opened.
        swap(&workload.kept, &workload.volatile)
        workload.kept = [text, more]
        workload.prepare = { world in try world.cache(film) }
        return workload
    }

    /// Another process opens the same keys in another order; where it would wait, it gives up.
    static func togetherBesideOthers(at moment: Int) -> CrashWorkload {
        opening("together beside others at \(moment)", [text, film, more], at: moment) { world in
            try world.open([more.key, film.key, text.key], world.engine(), givingUp: true)
        } _: { world, engine in
            try world.open([text.key, film.key, more.key], engine)
        }
    }
}

extension SimulatedWorld {
    /// Opens keys as an app does, and notes what it was told.
    ///
    /// - Parameter givesUp: Whether it is no failure that somebody else holds a lock.
    func open(_ keys: [ItemKey], _ engine: Engine, givingUp givesUp: Bool = false) throws {
        var failure: CacheError?
        for result in engine.open(keys) {
            switch result {
            case .success(.hit(let opened)): note(opened)
            case .success(.miss): break
            case .failure(.busy) where givesUp: break
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}

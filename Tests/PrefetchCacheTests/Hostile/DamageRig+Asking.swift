import Foundation
import SystemPackage
import Testing

@testable import PrefetchCaching

/// The ways to ask for an item, and what is answered.
extension DamageRig {
    func ask(_ question: Question) throws -> Answer {
        do {
            switch question {
            case .read: return answer(try engine.read(key, nil)) { $0 == content }
            case .range: return try askForRange()
            case .stream: return try askForStream()
            case .open: return try askToOpen { try engine.open(key) }
            case .openSeveral: return try askToOpenSeveral()
            case .contains: return try askWhetherItIsThere()
            case .status: return try askForStatus()
            case .metadata:
                let isThere = container.item(key).exists
                guard let found = try engine.description(of: key) else { return whereItWent(isThere) }
                return found.metadata == metadata && found.contentBytes == Int64(content.count)
                    ? .right : .wrong
            case .verify: return try verify()
            }
        } catch let error as CacheError {
            return .failed("\(error)")
        }
    }

    private func answer<Value>(_ lookup: Lookup<Value>, _ isRight: (Value) throws -> Bool) rethrows -> Answer
    {
        switch lookup {
        case .hit(let value): try isRight(value) ? .right : .wrong
        case .miss(.damaged): whereItWent(true) == .damaged ? .damaged : .failed("not set aside")
        case .miss(.purged): .purged
        case .miss(.newerFormat): .newer
        case .miss(.absent), .miss(.expired): .absent
        }
    }

    /// What became of the file, after a question that does not tell.
    private func whereItWent(_ wasThere: Bool) -> Answer {
        let quarantined = container.caches.appending(path: "quarantine/\(key.hash.inQuarantine.hexadecimal)")
        if quarantined.exists { return .damaged }
        if container.item(key).exists { return .newer }
        return wasThere ? .purged : .absent
    }

    /// The second half, piece by piece: chunks that it does not touch do not count.
    private func askForRange() throws -> Answer {
        let half = Int64(content.count / 2)
        let first = try answer(engine.read(key, 0..<half)) { $0 == content.prefix(Int(half)) }
        guard first == .right else { return first }
        let rest = half..<Int64(content.count)
        return try answer(engine.read(key, rest)) { $0 == content.suffix(rest.count) }
    }

    private func askForStream() throws -> Answer {
        var received = Data()
        let lookup = try engine.stream(key, nil) { received.append(contentsOf: $0) }
        guard case .hit(.failure(let error)) = lookup else {
            return answer(lookup) { _ in received == content }
        }
        guard case CacheError.item(.damaged) = error else { throw error }
        // Chunks before the damaged one had been handed out.
        return received == content.prefix(received.count) ? whereItWent(true) : .wrong
    }

    private func askToOpen(_ open: () throws -> Lookup<PromotedFile>) throws -> Answer {
        let found = try answer(open()) { opened in
            try Data(contentsOf: URL(filePath: opened.path.string)) == content
        }
        let documents = try container.files(below: container.documents)
        #expect(documents.isEmpty == (found != .right && found != .wrong), "\(documents)")
        for file in documents {
            try container.documents.appending(path: file).remove()
            _ = try engine.forget(key)
        }
        return found
    }

    /// Together with a sound item, which is handed over in any case.
    private func askToOpenSeveral() throws -> Answer {
        let sound = Data("sound".utf8)
        try engine.store(sound, companion)
        return try askToOpen {
            let results = engine.open([companion, key])
            let file = try #require(try results[0].get().value).url
            #expect(try Data(contentsOf: file) == sound)
            try file.remove()
            _ = try engine.forget(companion)
            return try results[1].get()
        }
    }

    /// What was emptied is not.
    private func askWhetherItIsThere() throws -> Answer {
        guard try engine.contains(key) else { return .absent }
        return written == [] ? .wrong : .present
    }

    /// The catalog may have lost the row with the last file.
    private func askForStatus() throws -> Answer {
        guard case .hit(.cached(let found)) = try engine.status(of: key) else { return .absent }
        return found.key == key && found.contentBytes == Int64(content.count) ? .present : .wrong
    }

    private func verify() throws -> Answer {
        let report = try engine.verified()
        guard let finding = report.findings.first else { return report.verifiedItems == 1 ? .right : .absent }
        switch finding.verdict {
        case .damaged: return .damaged
        case .missing: return .purged
        case .newerFormat: return .newer
        case .modified, .notOnDevice, .unreadable: return .failed("\(finding)")
        }
    }
}

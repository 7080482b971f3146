import Foundation
import Testing

@Suite struct RequestedTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test(arguments: ["-", "file"])
    func whatTheUserAskedForGoesStraightToItsDestination(_ input: String) throws {
        let content = text + noise(5 << 20, seed: 1)
        try container.folder.write(content, to: "file")
        let line = try container.succeed(
            "put", "k", input, "--requested", "--to", "documents", "--name", "A name.txt", input: content
        ).text
        #expect(line == container.root.appending(path: "Documents/A name.txt").path + "\n")
        #expect(try Data(contentsOf: container.root.appending(path: "Documents/A name.txt")) == content)
        #expect(try container.list().isEmpty)
        #expect(try container.succeed("open", "k").text == line)
        #expect(try container.succeed("cat", "k").output == content)
        let statistics = try container.json("stats")
        #expect(statistics["promotions"] as? Int == 1)
        #expect(statistics["stores"] as? Int == 0)
    }

    @Test func jsonTellsThatItWasDelivered() throws {
        try container.folder.write(text, to: "doc.txt")
        let object = try container.json("put", "k", "doc.txt", "--requested", "--to", "documents")
        #expect(
            Set(object.keys) == [
                "key", "path", "area", "name", "contentBytes", "firstOpen", "delivered",
                "schemaVersion",
            ])
        #expect(object["delivered"] as? Bool == true)
        #expect(object["firstOpen"] as? Bool == true)
        #expect(object["path"] as? String == container.root.appending(path: "Documents/doc.txt").path)
        #expect(object["contentBytes"] as? Int == text.count)
    }

    @Test func whatTheUserHasIsNotReplaced() throws {
        try container.succeed("put", "k", "-", "--requested", input: text)
        let outcome = try container.cachectl("put", "k", "-", "--requested", input: noise(10, seed: 1))
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("alreadyPromoted"))
        #expect(outcome.errors.contains("'cachectl open' names the file"))
        #expect(try container.succeed("cat", "k").output == text)
    }

    @Test(arguments: [Container.elevated, #"{"storing":false}"#, #"{"budgetBytes":0}"#])
    func whatRefusesAGuessDoesNotRefuseTheUser(_ configuration: String) throws {
        try container.configure(configuration)
        #expect(try container.cachectl("put", "guess", "-", input: text).status == 75)
        try container.succeed("put", "k", "-", "--requested", input: text)
        #expect(try container.succeed("cat", "k").output == text)
    }

    @Test func optionsOfCachedItemsAreRefused() throws {
        let container = try Container(hasCache: false)
        for option in [["--expires", "7d"], ["--priority", "0.5"], ["--encoding", "lz4"]] {
            let outcome = try Tool.run(
                Tool.path, ["put", "k", "-", "--requested", "--container", container.root.path] + option,
                in: container.folder)
            #expect(outcome.status == 64)
            #expect(outcome.errors.contains("with --requested"))
        }
        #expect(!FileManager.default.fileExists(atPath: container.root.path))
    }
}

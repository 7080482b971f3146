internal import ArgumentParser

/// `cachectl manual`
struct Manual: TextCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Prints the manual page, for man(1).",
        discussion: Examples.manual.discussion())

    func text() throws(CommandFailure) -> String {
        do {
            return ManualPage(try CommandTree.ofCachectl(), date: Timestamp.day(of: Timestamp.now)).text
        } catch {
            throw CommandFailure(.software, "the commands cannot be described: \(error)")
        }
    }
}

import Foundation
import Storytelling

/// The cache's whole story, told with real files: store ahead, evict, look inside, open, compare.
///
/// ``Story`` uses the library; this is the program around it.
@main
struct Walkthrough {
    static func main() async {
        // `swift run … | head` must not end the program before it has cleaned up.
        signal(SIGPIPE, SIG_IGN)
        exit(await run(CommandLine.arguments.dropFirst()).number)
    }

    private static func run(_ arguments: some Sequence<String>) async -> ExitCode {
        do {
            let arguments = try Arguments(arguments)
            guard !arguments.wantsHelp else {
                print(Arguments.usage)
                return .success
            }
            let chosen = try SourceFolder.choose(arguments.folder)
            let isAllWell = try await Interruption.cancelling {
                try await Workspace.with(named: "walkthrough", keepsContainer: arguments.keepsContainer) {
                    container in
                    try await Story(chosen: chosen, container: container).tell()
                }
            }
            return isAllWell ? .success : .failure
        } catch let error as UsageError {
            complain("\(error.problem)\n\(Arguments.usage)")
            return .wrongUsage
        } catch let error as SourceError {
            complain(error.description)
            return .noInput
        } catch let error as Interruption {
            complain("interrupted")
            return .interrupted(signalNumber: error.signalNumber)
        } catch let error as CocoaError {
            complain("\(error.filePath ?? "a file"): \(error.localizedDescription)")
            return .failure
        } catch {
            complain("\(error)")
            return .failure
        }
    }

    private static func complain(_ message: String) {
        StandardError.write("Walkthrough: \(message)\n")
    }
}

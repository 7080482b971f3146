internal import ArgumentParser

/// `cachectl completions`
struct Completions: TextCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Prints a shell completion script.",
        discussion: Examples.completions.discussion())

    @Argument(help: "The shell.")
    var shell: Shell

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    func text() -> String {
        let shell: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        return Cachectl.completionScript(for: shell)
    }
}

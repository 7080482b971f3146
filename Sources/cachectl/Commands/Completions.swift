internal import ArgumentParser
internal import Foundation

struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Prints a shell completion script.",
        discussion: """
            EXAMPLES:
              # For bash
              cachectl completions bash >>~/.bash_completion
              # For zsh, in a folder of $fpath
              cachectl completions zsh >~/.zsh/completions/_cachectl
              # For fish
              cachectl completions fish >~/.config/fish/completions/cachectl.fish
            """)

    @Argument(help: "The shell.")
    var shell: Shell

    enum Shell: String, CaseIterable, ExpressibleByArgument { case bash, zsh, fish }

    /// The command as users see it: shared options may also precede the command's name, see ``SharedArguments``.
    private struct Completed: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cachectl", version: Version.text, subcommands: Cachectl.configuration.subcommands)

        @OptionGroup var shared: SharedOptions
    }

    func run() throws { throw CleanExit.message(script) }

    private var script: String {
        // ArgumentParser does not complete command names after 'help'.
        let names = Cachectl.allNames.dropFirst().joined(separator: " ")
        switch shell {
        case .bash:
            return Completed.completionScript(for: .bash) + """

                _cachectl_help() {
                    [[ "${#unparsed_words[@]}" -gt 1 ]] || COMPREPLY+=($(compgen -W '\(names)' -- "${cur}"))
                }
                """
        case .zsh:
            return Completed.completionScript(for: .zsh)
                .replacing("'*:subcommands:'", with: "':command:(\(names))'")
        case .fish:
            let condition = #"__cachectl_should_offer_completions_for_positional "cachectl help" -eq 1"#
            return Completed.completionScript(for: .fish)
                + "\ncomplete -c 'cachectl' -n '\(condition)' -fka '\(names)'"
        }
    }
}

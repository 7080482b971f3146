/// The examples of all commands. A test checks that each is accepted.
extension Examples {
    static let put = Examples(
        ("put paper paper.pdf --to documents --app org.example.reader", "Store a file for later"),
        ("put film film.mp4 --requested --container ./AppData", "Hand a file over at once"),
        ("put feed - --expires 12h --app org.example.reader <feed.xml", "Store standard input, for 12 hours"))
    static let fetch = Examples(
        (
            "fetch https://media.example.org/42.mp3 --key episode-42 --app org.example.podcasts",
            "Download an episode"
        ),
        (
            "fetch --from-file episodes.txt --parallel 2 --app org.example.podcasts",
            "Download a list, two at a time"
        ))
    static let list = Examples(
        ("list --app org.example.podcasts", "List the cached items"),
        ("list --partials --json --container ./AppData", "The same as JSON, with interrupted items"),
        ("list --opened --app org.example.podcasts", "List the files that opened items became"))
    static let show = Examples(
        ("show episode-42 --app org.example.podcasts", "Show where an item is, and how much space it takes"))
    static let cat = Examples(
        ("cat paper --app org.example.reader >paper.pdf", "Copy the content; the item stays cached"),
        ("cat film --range 0-99 --app org.example.reader", "Print the first 100 bytes"))
    static let open = Examples(
        ("open paper --app org.example.reader", "Hand an item over, and print its path"),
        ("open page-1 page-2 page-3 --app org.example.reader", "Open several items together"))
    static let forget = Examples(
        ("forget paper --app org.example.reader", "Let the key be stored again; its file stays"))
    static let evict = Examples(
        ("evict old-1 old-2 --app org.example.podcasts", "Remove two items"),
        ("evict --bytes 100MB --app org.example.podcasts", "Make room, the coldest items first"),
        ("evict --older-than 30d --dry-run --app org.example.podcasts", "Items stored more than 30 days ago"),
        (
            "evict --source feeds.example.org --to-bytes 100MB --app org.example.podcasts",
            "Reduce a source to 100 MB"
        ))
    static let trim = Examples(
        ("trim --app org.example.podcasts", "Trim the cache now"))
    static let capacity = Examples(
        ("capacity --app org.example.podcasts", "Show how the budget is computed"))
    static let configure = Examples(
        ("configure --app org.example.podcasts", "Print the configuration"),
        ("configure --budget 2GiB --app org.example.podcasts", "Fix the budget"),
        ("configure --cap 500MB --policy sieve --app org.example.podcasts", "Limit an automatic budget"))
    static let stats = Examples(
        ("stats --app org.example.podcasts", "Show what the cache holds and has done"),
        ("stats --json --container ./AppData", "The same as JSON"))
    static let inventory = Examples(
        ("inventory --app org.example.podcasts", "Print totals by area and kind"),
        (
            "inventory --container Podcasts.xcappdata --files --area documents --older-than 90d",
            "List old files that the user sees"
        ),
        ("inventory --container ./AppData --csv --kind foreign >foreign.csv", "Foreign files as a table"),
        ("inventory --container ./AppData --check --plist Info.plist", "Check the files against the rules"))
    static let migrate = Examples(
        (
            "migrate --from ./AppData/Documents/Downloads --as support --dry-run --container ./AppData",
            "Show what would happen to downloads among the documents"
        ),
        (
            "migrate --from ./old-cache --as cached --source feeds.example.org --container ./AppData",
            "Take over another library's cache"
        ),
        ("migrate --dry-run --app org.example.podcasts", "Check whether an upgrade is due")
    )
    static let purge = Examples(
        (
            "purge --excluded --older-than 30d --dry-run --app org.example.podcasts",
            "List excluded files unused for 30 days"
        ))
    static let repair = Examples(
        ("repair --dry-run --container ./AppData", "Show what would be done"),
        ("repair --container ./AppData", "Repair the cache"))
    static let verify = Examples(
        ("verify --app org.example.podcasts", "Verify every byte"),
        ("verify --sample 1000 --seed 7 --app org.example.podcasts", "A thousand files, the same each time"))
    static let completions = Examples(
        ("completions bash >~/.local/share/bash-completion/completions/cachectl", "For bash"),
        ("completions zsh >~/.zsh/completions/_cachectl", "For zsh, in a folder of $fpath"),
        ("completions fish >~/.config/fish/completions/cachectl.fish", "For fish"))
    static let manual = Examples(
        ("manual >~/.local/share/man/man1/cachectl.1", "Install the page for 'man cachectl'"),
        ("manual | man -l -", "Read it now"))
    static let report = Examples(
        ("report --html report.html --app org.example.podcasts", "Write a page for a browser"),
        ("report --html - --container ./AppData >report.html", "Write it to standard output"))
    static let watch = Examples(
        ("watch --app org.example.podcasts", "Watch until q is pressed"),
        ("watch --json --interval 10s --count 6 --app org.example.podcasts", "Record a minute as JSON"))
}

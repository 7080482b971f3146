/// The examples of all commands. A test checks that each is accepted.
extension Examples {
    static let put = Examples(
        ("put paper paper.pdf --to documents --app org.example.reader", "Store a file for later"),
        ("put film film.mp4 --requested --container ./AppData", "The user waits: hand it over at once"),
        ("put feed - --expires 12h --app org.example.reader <feed.xml", "Store what a command prints"))
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
        ("list --app org.example.podcasts", "What is cached, the coldest first"),
        ("list --partials --json --container ./AppData", "The same for a program, with what was broken off"))
    static let show = Examples(
        ("show episode-42 --app org.example.podcasts", "Where an item is, and what it takes"))
    static let cat = Examples(
        ("cat paper --app org.example.reader >paper.pdf", "A copy; the item stays cached"),
        ("cat film --range 0-99 --app org.example.reader", "The first 100 bytes"))
    static let open = Examples(
        ("open paper --app org.example.reader", "Hand an item over, and print its path"),
        ("open page-1 page-2 page-3 --app org.example.reader", "Several together, with one flush"))
    static let forget = Examples(
        ("forget paper --app org.example.reader", "Let the key be stored again; its file stays"))
    static let evict = Examples(
        ("evict old-1 old-2 --app org.example.podcasts", "Remove two items"),
        ("evict --bytes 100MB --app org.example.podcasts", "Make room, the coldest items first"),
        ("evict --older-than 30d --dry-run --app org.example.podcasts", "What nobody has used for a month"),
        (
            "evict --source feeds.example.org --to-bytes 100MB --app org.example.podcasts",
            "Leave a source so much"
        ))
    static let trim = Examples(
        ("trim --app org.example.podcasts", "Give way to the volume now"))
    static let capacity = Examples(
        ("capacity --app org.example.podcasts", "Why the budget is what it is"))
    static let configure = Examples(
        ("configure --app org.example.podcasts", "Print the configuration"),
        ("configure --budget 2GiB --app org.example.podcasts", "Fix the budget"),
        ("configure --cap 500MB --policy sieve --app org.example.podcasts", "Automatic, with a limit"))
    static let stats = Examples(
        ("stats --app org.example.podcasts", "What the cache holds, and what it did"),
        ("stats --json --container ./AppData", "The same for a program"))
    static let inventory = Examples(
        ("inventory --app org.example.podcasts", "Sums by area and kind"),
        (
            "inventory --container Podcasts.xcappdata --files --area documents --older-than 90d",
            "The old files that a user sees"
        ),
        ("inventory --container ./AppData --csv --kind foreign >foreign.csv", "For a table"),
        ("inventory --container ./AppData --check --plist Info.plist", "What is wrong with it"))
    static let migrate = Examples(
        (
            "migrate --from ./AppData/Documents/Downloads --as support --dry-run --container ./AppData",
            "What would become of downloads that lie among documents"
        ),
        (
            "migrate --from ./old-cache --as cached --source feeds.example.org --container ./AppData",
            "Take over another library's cache"
        ),
        ("migrate --dry-run --app org.example.podcasts", "Whether catalog and ledger are of an older version")
    )
    static let purge = Examples(
        (
            "purge --excluded --older-than 30d --dry-run --app org.example.podcasts",
            "What could be downloaded again, and nobody has used for a month"
        ))
    static let repair = Examples(
        ("repair --dry-run --container ./AppData", "What would be done"),
        ("repair --container ./AppData", "Do it"))
    static let verify = Examples(
        ("verify --app org.example.podcasts", "Every byte"),
        ("verify --sample 1000 --seed 7 --app org.example.podcasts", "A thousand files, the same each time"))
    static let completions = Examples(
        ("completions bash >~/.local/share/bash-completion/completions/cachectl", "For bash"),
        ("completions zsh >~/.zsh/completions/_cachectl", "For zsh, in a folder of $fpath"),
        ("completions fish >~/.config/fish/completions/cachectl.fish", "For fish"))
    static let manual = Examples(
        ("manual >~/.local/share/man/man1/cachectl.1", "So that 'man cachectl' finds it"),
        ("manual | man -l -", "Read it now"))
    static let report = Examples(
        ("report --html report.html --app org.example.podcasts", "A page for a browser"),
        ("report --html - --container ./AppData >report.html", "To standard output"))
    static let watch = Examples(
        ("watch --app org.example.podcasts", "Live, until q is pressed"),
        ("watch --json --interval 10s --count 6 --app org.example.podcasts", "A minute, for a program"))
}

internal import PrefetchFileSystem
internal import SystemPackage

/// What the name of a file says about its content.
enum FileType: Sendable, Hashable {
    /// A document of a type that people write or draw themselves.
    case ownDocument
    /// A document of a type that people mostly get from elsewhere. They may not get it again.
    case importedDocument
    /// Text and tables: documents if they are where the user sees them, and anything else elsewhere.
    case text
    /// A film or sound.
    case media
    /// The weights of a machine-learning model.
    case model
    /// A small version of an image.
    case thumbnail
    case log
    case settings
    case database
    case unfinishedDownload

    private static let extensions: [String: FileType] = {
        let lists: [(FileType, String)] = [
            (
                .ownDocument,
                """
                afdesign afphoto afpub ai als aup3 band blend clip doc docm docx drawio dwg graffle indd \
                kdbx key kra logicx mscz numbers odg odp ods odt ora pages ppt pptm pptx procreate psb psd \
                pxd rtf rtfd sketch tex vsdx xcf xls xlsm xlsx
                """
            ), (.importedDocument, "azw azw3 cb7 cbr cbt cbz djvu epub fb2 ibooks mobi pdf xps"),
            (.text, "csv markdown md tsv txt"),
            (
                .media,
                """
                3gp aac aif aiff alac avi caf flac m2ts m4a m4b m4v mkv mov mp3 mp4 mpeg mpg mts ogg opus \
                wav webm wma wmv
                """
            ),
            (
                .model,
                "caffemodel ckpt ggml gguf h5 keras mlmodel onnx pt pte pth safetensors tflite torchscript"
            ),
            (.log, "asl crash etl ips log trace"),
            (.settings, "cfg conf config ini lock pid plist prefs properties state"),
            (
                .database,
                "cblite2 db db3 duckdb gpkg ldb lmdb mbtiles realm s3db sqlite sqlite3 sqlitedb sst storedata"
            ),
            (.unfinishedDownload, "aria2 crdownload download filepart opdownload part partial tmp"),
        ]
        return Dictionary(
            uniqueKeysWithValues: lists.flatMap { type, list in
                list.split(separator: " ").map { (String($0), type) }
            })
    }()

    /// Names of settings and state, which have an extension of ``dataExtensions``.
    private static let settingsNames: Set = [
        "config", "configuration", "metadata", "preferences", "prefs", "session", "settings", "state",
    ]
    private static let dataExtensions: Set = ["bin", "dat", "json", "toml", "xml", "yaml", "yml"]
    private static let imageExtensions: Set = [
        "avif", "bmp", "gif", "heic", "jpeg", "jpg", "ktx", "png", "tif", "tiff", "webp",
    ]

    /// The type of a file or package; `nil` if its name says nothing.
    init?(_ name: FilePath.Component) {
        guard let ending = name.extension?.lowercased() else { return nil }
        if let type = Self.extensions[ending] {
            self = type
        } else if Self.imageExtensions.contains(ending) {
            guard Self.isThumbnail(name.stem) else { return nil }
            self = .thumbnail
        } else if Self.dataExtensions.contains(ending) {
            guard Self.settingsNames.contains(name.stem.lowercased()) else { return nil }
            self = .settings
        } else if name.string.lowercased().contains(".log.") {
            // `app.log.1`, `app.log.gz`
            self = .log
        } else {
            return nil
        }
    }

    /// Whether only the user can have files of this type.
    var isDocument: Bool { self == .ownDocument || self == .importedDocument }

    /// Whether a name says `thumb` or `thumbnail`, as a word of its own between marks that people do not use in names.
    private static func isThumbnail(_ stem: String) -> Bool {
        stem.lowercased().split { "_-.@0123456789".contains($0) }
            .contains { ["thumb", "thumbs", "thumbnail", "thumbnails"].contains($0) }
    }

    /// Whether a folder is for thumbnails, by its name.
    static func isThumbnailFolder(_ name: FilePath.Component) -> Bool {
        let name = name.string.lowercased()
        return name.contains("thumbnail") || ["thumb", "thumbs", ".thumbs"].contains(name)
    }
}

extension FilePath.Component {
    /// Whether the name was made by a program: a UUID, or at least 16 hexadecimal digits, before the extension. Digits
    /// only, or letters only, may be a date or a word.
    var isMachineMade: Bool {
        let stem = stem
        guard stem.allSatisfy({ $0.isASCII && ($0.isHexDigit || $0 == "-") }) else { return false }
        let lengths = stem.split(separator: "-", omittingEmptySubsequences: false).map(\.count)
        return lengths == [8, 4, 4, 4, 12]
            || lengths.count == 1 && lengths[0] >= 16 && stem.contains(where: \.isNumber)
                && stem.contains(where: \.isLetter)
    }

    /// Whether the name is a bundle identifier: reverse DNS, such as `org.example.podcasts`.
    var isBundleIdentifier: Bool {
        let parts = string.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count >= 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            }
    }
}

/// The databases that apps use, recognised by a magic number, and else by the name that they usually have.
enum DatabaseFormat {
    private static let magic: [(offset: Int, bytes: [UInt8])] = [
        (0, Array("SQLite format 3\0".utf8)),  // sqlite.org/fileformat.html
        (16, Array("T-DB".utf8)),  // Realm
        (16, [0xDE, 0xC0, 0xEF, 0xBE]),  // LMDB
        (8, Array("DUCK".utf8)),  // DuckDB
        (12, [0x62, 0x31, 0x05, 0x00]), (12, [0x61, 0x15, 0x06, 0x00]),  // Berkeley DB: tree, hash
        (0, [0xCE, 0x9A, 0x57, 0x13]), (0, [0xCF, 0x9A, 0x57, 0x13]),  // GDBM
    ]

    /// How many bytes of a file tell its format.
    static let beginning = 20

    /// Whether a database begins with `bytes`.
    static func isBeginning(_ bytes: [UInt8]) -> Bool {
        magic.contains { bytes.dropFirst($0.offset).starts(with: $0.bytes) }
    }

    /// Whether a folder is a database as a whole, by its name.
    static func isFolder(_ name: FilePath.Component) -> Bool {
        switch name.extension?.lowercased() {
        case "cblite2", "leveldb", "rocksdb": true
        // Beside a Realm file, and beside a store of Core Data for its large values.
        case "management": name.stem.hasSuffix(".realm")
        default: name.string.hasSuffix("_SUPPORT")
        }
    }
}

/// The files that databases keep beside them, such as a journal.
struct SideFiles {
    private static let endings = ["-journal", "-shm", "-wal", "-lock", ".wal", ".lock", ".note"]

    private struct Main: Hashable {
        let folder: Int
        let name: FilePath.Component
    }

    private var sides: [Main: [Int]] = [:]

    /// Finds the files whose names make them side files of another, if there is one.
    init(among files: [Int], of inventory: FileInventory) {
        for index in files {
            let file = inventory.files[index]
            let name = FilePath(root: nil, [file.name]).bytes
            guard
                let ending = Self.endings.first(where: { name.reversed().starts(with: $0.utf8.reversed()) }),
                let main = FilePath(bytes: name.dropLast(ending.utf8.count)).lastComponent
            else { continue }
            sides[Main(folder: file.folder, name: main), default: []].append(index)
        }
    }

    func sides(of file: InventoryFile) -> [Int] { sides[Main(folder: file.folder, name: file.name)] ?? [] }

    /// The side files whose main file is named as a database, whether or not it is there.
    var ofDatabases: [Int] {
        sides.filter { FileType($0.key.name) == .database }.values.joined().sorted()
    }
}

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
            ),
            (.importedDocument, "azw azw3 cb7 cbr cbt cbz djvu epub fb2 ibooks mobi pdf xps"),
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
                """
                cblite2 db db3 duckdb gpkg ldb lmdb mbtiles realm s3db sqlite sqlite3 sqlitedb sst storedata
                """
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
        var digits = Array(stem.utf8)
        if digits.count == 36, [8, 13, 18, 23].allSatisfy({ digits[$0] == UInt8(ascii: "-") }) {
            digits.removeAll { $0 == UInt8(ascii: "-") }
            guard digits.count == 32 else { return false }
            return digits.allSatisfy(\.isHexadecimal)
        }
        return digits.count >= 16 && digits.allSatisfy(\.isHexadecimal)
            && digits.contains(where: \.isDecimal) && !digits.allSatisfy(\.isDecimal)
    }

    /// Whether the name is a bundle identifier: reverse DNS, such as `org.example.podcasts`.
    var isBundleIdentifier: Bool {
        let parts = string.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count >= 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isDecimal || $0 == UInt8(ascii: "-") }
            }
    }
}

extension UInt8 {
    fileprivate var isDecimal: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    fileprivate var isHexadecimal: Bool {
        isDecimal || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}

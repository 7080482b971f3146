internal import Foundation

/// What the server says that the content is, against what is expected.
extension Expectations {
    /// The media type of a response that cannot have the content; `nil` if it may. A type that says nothing, or none, is
    /// no reason to refuse it.
    func unwelcomeType(of head: ResponseHead) -> String? {
        let type = head.mediaType
        guard let wanted = mediaType else { return isNoPage && Self.pages.contains(type) ? type : nil }
        let isAny = wanted == "*/*" || wanted.hasSuffix("/*") && type.hasPrefix(wanted.dropLast())
        return isAny || type == wanted || Self.sayingNothing.contains(type) ? nil : type
    }

    private static let pages: Set = ["text/html", "application/xhtml+xml"]
    private static let sayingNothing: Set = [
        "", "application/octet-stream", "binary/octet-stream", "multipart/byteranges",
    ]

    /// Whether the path of a URL says that the content is one that no browser shows as a page of text.
    static func isNoPage(_ url: URL?) -> Bool {
        url.map { extensions.contains($0.pathExtension.lowercased()) } ?? false
    }

    private static let extensions = Set(
        """
        aac ac3 aif aiff alac amr ape caf flac m4a m4b mid midi mka mp2 mp3 oga ogg opus wav weba wma \
        3gp avi flv m2ts m4v mkv mov mp4 mpeg mpg mts ogv ts vob webm wmv \
        apng avif bmp dng gif heic heif ico jfif jpeg jpg jxl png psd svg tif tiff webp \
        7z aar apk br bz2 cab cpio crate deb dmg ear gz iso jar lha lz lz4 lzma msi nupkg pkg rar rpm tar tbz \
        tbz2 tgz txz war whl xpi xz z zip zst \
        azw azw3 cbr cbz djvu doc docx epub fb2 ibooks key mobi numbers odp ods odt pages pdf ppt pptx ps xls \
        xlsx xps \
        otf ttf woff woff2 bin db exe gguf gpkg img ipa mbtiles mlmodel npz onnx pmtiles pt pth safetensors \
        sqlite tflite usdz wasm
        """.split { $0.isWhitespace }.map(String.init))
}

extension ResponseHead {
    /// In lower case, without parameters; empty if there is none.
    var mediaType: String {
        (self["content-type"] ?? "").prefix { $0 != ";" && $0 != "," }.trimmed.lowercased()
    }
}

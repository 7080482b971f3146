internal import PrefetchCaching
internal import StorageInventory

/// What a container or the areas of an app hold, for a report: by area and purpose, what is backed up, and what is wrong.
struct ContainerContents {
    /// The files of one area with one purpose.
    struct Group: Hashable {
        let area: Area?
        let purpose: String
        /// Whether the purpose is text from a manifest.
        let isForeign: Bool
        var files = 0
        var bytes: Int64 = 0
        var backedUpBytes: Int64 = 0

        var areaTitle: String { area?.title ?? "elsewhere" }
    }

    /// The largest first.
    let groups: [Group]
    let findings: [Finding]
    /// The number of files and folders that could not be read.
    let problems: Int

    var bytes: Int64 { groups.reduce(0) { $0 + $1.bytes } }
    var backedUpBytes: Int64 { groups.reduce(0) { $0 + $1.backedUpBytes } }

    /// The areas with their groups, the largest first.
    var areas: [(title: String, bytes: Int64, groups: [Group])] {
        Dictionary(grouping: groups, by: \.areaTitle)
            .map { ($0.key, $0.value.reduce(0) { $0 + $1.bytes }, $0.value) }
            .sorted { ($0.1, $1.0) > ($1.1, $0.0) }
    }
}

extension ContainerContents {
    init(
        of inventory: FileInventory, _ findings: [Finding], problems: Int,
        explainedBy manifest: StorageManifest?
    ) {
        self.findings = findings
        self.problems = problems
        // By what is the same for all of a group's files.
        var groups: [Group: Group] = [:]
        for file in inventory.files {
            let entry =
                file.kind.ownPurpose == nil ? manifest?.entry(for: inventory.containerPath(of: file)) : nil
            let key = Group(
                area: file.area, purpose: entry?.what ?? Self.purpose(of: file.kind), isForeign: entry != nil)
            var group = groups[key] ?? key
            group.files += 1
            group.bytes += file.countedLength
            if file.isBackedUp { group.backedUpBytes += file.countedLength }
            groups[key] = group
        }
        self.groups = groups.values.sorted {
            ($0.bytes, $1.areaTitle, $1.purpose) > ($1.bytes, $0.areaTitle, $0.purpose)
        }
    }

    private static func purpose(of kind: FileKind) -> String {
        switch kind {
        case .item: "cached items"
        case .partial, .journal: "interrupted items"
        case .quarantined: "damaged items"
        case .promoted, .staged: "opened items"
        case .catalog, .ledger, .configuration, .history, .lock, .tag: "the cache’s own records"
        case .foreign, .link, .special: "other files"
        }
    }
}

/// A picture of all files: a rectangle per area, and within it one per purpose.
struct ContainerPicture {
    let contents: ContainerContents

    private static let width = 1000.0
    private static let height = 420.0
    /// The room for the name of an area.
    private static let header = 22.0
    private static let styles: [Area?: String] = [
        .caches: "s1", .documents: "s2", .applicationSupport: "s3", .iCloudDrive: "s4",
    ]

    /// - Parameter id: Unique on the page.
    func svg(id: String) -> String {
        let areas = contents.areas.filter { $0.bytes > 0 }
        let whole = Treemap.Rectangle(x: 0, y: 0, width: Self.width, height: Self.height)
        let rectangles = Treemap.rectangles(of: areas.map { Double($0.bytes) }, in: whole)
        var shapes = ""
        for (area, rectangle) in zip(areas, rectangles) {
            let style = Self.styles[area.groups.first?.area ?? nil] ?? "s5"
            var inner = rectangle
            if rectangle.height > 3 * Self.header {
                inner.y += Self.header
                inner.height -= Self.header
                shapes += label("\(area.title), \(Size.text(area.bytes))", in: rectangle, isHeader: true)
            }
            let groups = area.groups.filter { $0.bytes > 0 }
            for (group, part) in zip(
                groups, Treemap.rectangles(of: groups.map { Double($0.bytes) }, in: inner))
            {
                shapes += shape(part, style)
                shapes += label("\(group.purpose), \(Size.text(group.bytes))", in: part, isHeader: false)
            }
        }
        let words = areas.map { "\($0.title) \(Size.text($0.bytes))" }.joined(separator: ", ")
        return """
            <svg class="map" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" \
            aria-labelledby="\(id)-t \(id)-d"><title id="\(id)-t">All files by area and purpose</title>\
            <desc id="\(id)-d">\(HTML.text(words)).</desc>\(shapes)</svg>
            """
    }

    private func shape(_ rectangle: Treemap.Rectangle, _ style: String) -> String {
        let (x, y) = (rectangle.x, rectangle.y)
        return "<rect class=\"\(style) cell\" x=\"\(tenths(x))\" y=\"\(tenths(y))\" "
            + "width=\"\(tenths(rectangle.width))\" height=\"\(tenths(rectangle.height))\"/>"
    }

    /// The text, if there is room for it; the table repeats all of them.
    private func label(_ text: String, in rectangle: Treemap.Rectangle, isHeader: Bool) -> String {
        // A letter is about half as wide as it is high.
        let columns = Int((rectangle.width - 12) / 7.5)
        guard rectangle.height >= Self.header, columns >= 8 else { return "" }
        let shown =
            text.escapedForTerminal.columns > columns
            ? text.escapedForTerminal.fitted(columns: columns) : text
        return "<text class=\"\(isHeader ? "head" : "name")\" x=\"\(tenths(rectangle.x + 6))\" "
            + "y=\"\(tenths(rectangle.y + 16))\">\(HTML.text(shown))</text>"
    }

    private func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

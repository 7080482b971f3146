/// Metrics of one name, with a sample for each value of a label.
struct MetricFamily {
    enum Kind: String {
        /// A sum that only grows, until it begins again at 0. The name ends with `_total`.
        case counter
        case gauge
        /// A sum of times and their number, the samples `_sum` and `_count`.
        case summary
    }

    struct Sample {
        /// What follows the name of the family.
        var suffix = ""
        /// The value of the family's own label.
        var label = ""
        /// A decimal number.
        let value: String
    }

    let name: String
    let kind: Kind
    /// What is counted or measured, in one sentence.
    let help: String
    /// The label that tells the samples apart.
    var label: String?
    let samples: [Sample]
}

/// Metrics as text, for the text-file collector of Prometheus' node exporter.
///
/// What is written here means the same as OpenMetrics 1.0 and as the older text format, version 0.0.4, which is the only
/// one that the collector reads. The two disagree about the type of a counter: OpenMetrics declares it under the name
/// without `_total`, where the older format then finds no samples, and the other way round it is an error. Counters
/// therefore have a description and no type; Prometheus itself takes no notice of types. Nothing has a time, which the
/// collector refuses, and `# EOF` is a comment to it.
enum OpenMetrics {
    /// The text without its last line break.
    ///
    /// - Parameter labels: What all samples carry, before the label of their family.
    static func text(of families: [MetricFamily], labels: [(name: String, value: String)]) -> String {
        var lines: [String] = []
        for family in families {
            lines.append("# HELP \(family.name) \(escaped(family.help, quoted: false))")
            if family.kind != .counter { lines.append("# TYPE \(family.name) \(family.kind.rawValue)") }
            for sample in family.samples {
                let labels = labels + (family.label.map { [(name: $0, value: sample.label)] } ?? [])
                let text = labels.map { "\($0.name)=\"\(escaped($0.value, quoted: true))\"" }
                lines.append(
                    "\(family.name)\(sample.suffix){\(text.joined(separator: ","))} \(sample.value)")
            }
        }
        return (lines + ["# EOF"]).joined(separator: "\n")
    }

    private static func escaped(_ text: String, quoted: Bool) -> String {
        text.replacing({ $0 == "\\" || $0 == "\n" || quoted && $0 == "\"" }) {
            $0 == "\n" ? "\\n" : "\\\($0)"
        }
    }
}

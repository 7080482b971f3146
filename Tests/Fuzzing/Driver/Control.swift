/// Negative control: a property that six bytes break. Only a fuzzer that sees the branches which its inputs
/// take comes across it, and does so within seconds.
func fuzzControl(_ input: [UInt8]) throws {
    var rest = input[...]
    for expected in "broken".utf8 {
        guard rest.popFirst() == expected else { return }
    }
    throw BrokenProperty(description: "the control was found")
}

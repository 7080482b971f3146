import FileSystemTestSupport

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs libFuzzer on one target: `fuzz TARGET [ARGUMENT...]`, with the arguments of libFuzzer.
@main
enum Fuzz {
    // Unprotected, as libFuzzer calls back on one thread, and so does `exit`; and the calls reach nothing but globals.
    nonisolated(unsafe) private static var target: FuzzTarget?
    // As above.
    nonisolated(unsafe) private static var cases = 0

    static func main() {
        let name = CommandLine.arguments.dropFirst().first
        let targets = FuzzTarget.all + [FuzzTarget(name: "control", run: fuzzControl)]
        guard let chosen = targets.first(where: { $0.name == name }) else {
            print("usage: fuzz TARGET [ARGUMENT...], where TARGET is one of:")
            for target in targets { print("  \(target.name)") }
            exit(64)
        }
        target = chosen
        // libFuzzer ends the process itself, in order when it found nothing.
        atexit { Fuzz.report() }
        var count = CommandLine.argc - 1
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
        exit(
            runDriver(&count, &arguments) { bytes, count in
                Fuzz.run([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            })
    }

    private static func run(_ input: [UInt8]) {
        cases += 1
        do {
            try target?.run(input)
        } catch {
            // The trap is how libFuzzer learns of a finding: it keeps the input, and goes on to make it smaller.
            fatalError("\(error)")
        }
    }

    private static func report() {
        guard let target, cases > 0 else { return }
        var record = AttackRecord("fuzzing.\(target.name)", of: "inputs", cases: cases)
        // What the sanitizer reports, and what traps, ends the process without getting here.
        record.note(\.sanitizerReports, 0)
        record.note(\.crashes, 0)
        record.report()
    }
}

/// `FuzzerInterface.h` of LLVM: the driver for programs with a `main` of their own.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

"""Faults that must be found, each in a copy of one file: a check that accepts them shows nothing."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import asserts
from sdk import ROOT, SUPPORT, WORK, digest
from swift import Failure


@dataclass(frozen=True)
class Control:
    name: str
    module: str
    file: str
    right: str
    wrong: str
    message: str


CONTROLS = [
    Control(
        "a field as Linux calls it", "PrefetchFileSystem", "Sources/PrefetchFileSystem/Platform.swift",
        "status.st_mtimespec.tv_sec", "status.st_mtim.tv_sec", "value of type 'stat' has no member 'st_mtim'"),
    Control(
        "a warning", "PrefetchFileSystem", "Sources/PrefetchFileSystem/Platform.swift",
        "let flag = UInt32(UF_NODUMP)", "var flag = UInt32(UF_NODUMP)", "variable 'flag' was never mutated"),
    Control(
        "a missing await", "PrefetchMetrics", "Sources/PrefetchMetrics/CacheMetrics.swift",
        "let statistics = try await cache.statistics()", "let statistics = try cache.statistics()",
        "expression is 'async' but is not marked with 'await'"),
    Control(
        "shared mutable state", "PrefetchDownloading", "Sources/PrefetchDownloading/Transport/Transports.swift",
        "private let delegate = SessionDelegate()", "private var delegate = SessionDelegate()",
        "stored property 'delegate' of 'Sendable'-conforming class 'SessionTransport' is mutable"),
]

# Of a platform whose processor has 32 bits.
ASSERT = Control(
    "a size that another platform has", "", ".ci/apple.d/asserts.c", "SIZE(time_t, 4)", "SIZE(time_t, 8)",
    "a time_t has not 8 bytes")
ASSERT_TRIPLE = "arm64_32-apple-watchos11.0"


def check(build, headers):
    """Returns the names of the controls. Fails when one of them compiles, or fails for another reason."""
    checked = {control.module for control in CONTROLS}
    stamp = WORK / "controls-key"
    key = digest(*(build.keys[module] for module in sorted(checked)), SUPPORT / "controls.py", asserts.ASSERTS)
    if not stamp.exists() or stamp.read_text() != key:
        stamp.unlink(missing_ok=True)
        for control in CONTROLS:
            expect_swift(control, build)
        expect_c(ASSERT, headers)
        stamp.write_text(key)
    return [control.name for control in [*CONTROLS, ASSERT]]


def mutated(control):
    text = (ROOT / control.file).read_text()
    if text.count(control.right) != 1:
        raise Failure(f"The control '{control.name}' finds its text {text.count(control.right)} times in {control.file}.")
    copy = WORK / "control" / Path(control.file).name
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(text.replace(control.right, control.wrong))
    return copy


def expect_swift(control, build):
    module = build.modules[control.module]
    copy = mutated(control)
    files = [copy if file == ROOT / control.file else file for file in module.files]
    scratch = WORK / "control"
    result = subprocess.run(
        [*build.command(control.module, files, module.flags),
         "-emit-module-path", scratch / "control.swiftmodule", "-o", scratch / "control.o", *files],
        capture_output=True, text=True)
    require(control, result)


def expect_c(control, headers):
    try:
        asserts.compile_one(ASSERT_TRIPLE, headers, mutated(control), [])
    except Failure as failure:
        if control.message not in str(failure):
            raise
    else:
        raise Failure(f"The control '{control.name}' compiles.")


def require(control, result):
    if result.returncode == 0:
        raise Failure(f"The control '{control.name}' compiles.")
    if f"error: {control.message}" not in result.stderr:
        raise Failure(f"The control '{control.name}' fails for another reason:\n{result.stderr}")

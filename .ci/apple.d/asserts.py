"""C code, which compiles for every platform and processor: our targets, and what we assume of constants and layouts."""

import re
import subprocess
from dataclasses import dataclass

from sdk import HEADERS, SUPPORT, WORK, digest, target_info
from swift import Failure, is_mach_o

TRIPLES = [
    "arm64-apple-macosx15.0",
    "x86_64-apple-macosx15.0",
    "arm64-apple-ios18.0",
    "arm64-apple-ios18.0-simulator",
    "x86_64-apple-ios18.0-simulator",
    "arm64-apple-ios18.0-macabi",
    "x86_64-apple-ios18.0-macabi",
    "arm64_32-apple-watchos11.0",
    "arm64-apple-watchos11.0",
    "arm64-apple-watchos11.0-simulator",
    "x86_64-apple-watchos11.0-simulator",
    "arm64-apple-xros2.0",
    "arm64-apple-xros2.0-simulator",
]

ASSERTS = SUPPORT / "asserts.c"


@dataclass
class Checked:
    asserts: int
    triples: list
    # The names of our C targets, and the number of their files.
    targets: list
    files: int
    reused: bool


def check(headers, manifest):
    targets = [target for target in manifest.c_targets() if not target.is_system]
    files = sum(len(target.sources) for target in targets)
    count = len(re.findall(r"^(?:VALUE|SIZE|FIELD|_Static_assert)\(", ASSERTS.read_text(), re.MULTILINE))
    checked = Checked(count, TRIPLES, [target.name for target in targets], files, reused=True)
    stamp = WORK / "c-key"
    key = digest(target_info()["compilerVersion"], HEADERS, ASSERTS, SUPPORT / "asserts.py",
                 *(target.folder for target in targets))
    if stamp.exists() and stamp.read_text() == key:
        return checked
    for triple in TRIPLES:
        compile_one(triple, headers, ASSERTS, [])
        for target in targets:
            flags = manifest.c_flags(target)
            for source in target.sources:
                compile_one(triple, headers, source, flags)
    stamp.write_text(key)
    checked.reused = False
    return checked


def compile_one(triple, headers, source, flags):
    object_file = WORK / "c.o"
    # None of this machine's headers.
    command = ["clang", "-target", triple, "-nostdlibinc", "-isystem", headers, "-std=gnu17", "-Wall", "-Wextra", "-Werror",
               *flags, "-c", source, "-o", object_file]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise Failure(f"{source} does not compile for {triple}:\n{result.stderr}")
    if not is_mach_o(object_file):
        raise Failure(f"The object of {source} for {triple} is no Mach-O.")

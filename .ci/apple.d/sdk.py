"""The folder that the compiler takes for Apple's SDK: libc headers, and the standard library as text."""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = ROOT / ".ci/apple.d"
WORK = ROOT / ".build-apple"

# The package of PyPI that has Apple's headers, of which it publishes no smaller one.
HEADERS = "ziglang==0.17.1"

# What our sources and the packages import of the toolchain.
STANDARD_LIBRARY = [
    "Swift", "_Concurrency", "_StringProcessing", "_RegexParser", "RegexBuilder", "Synchronization",
    "SwiftOnoneSupport", "Observation",
]


@dataclass(frozen=True)
class Platform:
    name: str
    triple: str
    # The name of a module's file in a `.swiftmodule` folder, without the version.
    module_triple: str
    # As SwiftPM calls it in the conditions of a manifest.
    package_name: str
    settings: dict = None

    __hash__ = object.__hash__


SWIFT_PLATFORMS = [
    Platform(
        "macOS 15", "x86_64-apple-macosx15.0", "x86_64-apple-macos", "macos",
        {"CanonicalName": "macosx15.0", "DisplayName": "macOS 15.0", "Version": "15.0",
         "MaximumDeploymentTarget": "15.99",
         "VersionMap": {"macOS_iOSMac": {"15.0": "18.0"}, "iOSMac_macOS": {"18.0": "15.0"}},
         "SupportedTargets": {"macosx": {"Archs": ["x86_64"]}}}),
    Platform(
        "iOS 18 simulator", "x86_64-apple-ios18.0-simulator", "x86_64-apple-ios-simulator", "ios",
        {"CanonicalName": "iphonesimulator18.0", "DisplayName": "iOS 18.0", "Version": "18.0",
         "MaximumDeploymentTarget": "18.99", "VersionMap": {},
         "SupportedTargets": {"iphonesimulator": {"Archs": ["x86_64"]}}}),
]


class Unavailable(Exception):
    pass


def headers():
    """Apple's libc headers; taken from PyPI once."""
    folder = WORK / "headers"
    stamp = folder / "version"
    if stamp.exists() and stamp.read_text() == HEADERS:
        return folder / "include"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
        environment = WORK / "venv"
        made = subprocess.run([sys.executable, "-m", "venv", environment], capture_output=True, text=True)
        if made.returncode != 0:
            raise Unavailable("pip is missing, and so is python3-venv, which would bring it")
        pip = [environment / "bin/python", "-m", "pip"]
    download = [*pip, "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", folder, HEADERS]
    loaded = subprocess.run(download, capture_output=True, text=True)
    if loaded.returncode != 0:
        reason = (loaded.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"{HEADERS}, which has Apple's libc headers, cannot be had from PyPI ({reason})")
    (wheel,) = folder.glob("*.whl")
    marker = "/include/any-darwin-any/"
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if marker in name and not name.endswith("/"):
                target = folder / "include" / name.split(marker)[1]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
    wheel.unlink()
    stamp.write_text(HEADERS)
    return folder / "include"


def digest(*parts):
    """A digest of texts, and of the names and contents of files and folders."""
    sha = hashlib.sha256()
    for part in parts:
        files = [part] if not isinstance(part, Path) else (
            [part] if part.is_file() else sorted(path for path in part.rglob("*") if path.is_file()))
        for file in files:
            sha.update(f"{file}\0".encode())
            if isinstance(file, Path):
                sha.update(file.read_bytes())
    return sha.hexdigest()


def target_info():
    output = subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def prepare(platform, include):
    """Returns the folder, and a text that changes with everything in it."""
    info = target_info()
    toolchain = Path(info["paths"]["runtimeResourcePath"])
    key = digest(info["compilerVersion"], HEADERS, str(platform.settings), SUPPORT / "sdk.py")
    work = WORK / platform.package_name
    folder = work / "sdk"
    stamp = work / "sdk-key"
    if stamp.exists() and stamp.read_text() == key:
        return folder, key
    shutil.rmtree(work, ignore_errors=True)
    library = folder / "usr/lib/swift"
    library.mkdir(parents=True)
    (folder / "usr/include").symlink_to(include)
    (folder / "SDKSettings.json").write_text(json.dumps(platform.settings))
    (library / "shims").symlink_to(toolchain / "shims")
    (library / "clang").symlink_to(toolchain / "clang")
    host = info["target"]["moduleTriple"]
    for module in STANDARD_LIBRARY:
        text = (toolchain / f"linux/{module}.swiftmodule/{host}.swiftinterface").read_text()
        target = library / f"{module}.swiftmodule/{platform.module_triple}.swiftinterface"
        target.parent.mkdir()
        target.write_text(retargeted(text, info["target"]["triple"], platform.triple))
    stamp.write_text(key)
    return folder, key


def retargeted(interface, host, triple):
    lines = [line for line in interface.splitlines() if "@backDeployed" not in line]
    head = "\n".join(lines[:5]).replace(f"-target {host}", f"-target {triple}")
    # The text says nothing of the versions of Apple's systems.
    head = head.replace("-target-min-inlining-version min", "-disable-availability-checking", 1)
    body = "\n".join(lines[5:]).replace("import Glibc", "import Darwin")
    return f"{head}\n{body}\n"

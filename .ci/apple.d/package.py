"""What the manifest says of our targets, and where their sources and those of the packages are."""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from sdk import ROOT, SUPPORT, WORK

# The packages that are compiled from their checkouts: the module, its folder, and what is left out of it as their own
# manifests do.
CHECKED_OUT = {
    "SystemPackage": ("swift-system/Sources/System", ["IORing"]),
    "Logging": ("swift-log/Sources/Logging", []),
    "CoreMetrics": ("swift-metrics/Sources/CoreMetrics", []),
    "ArgumentParserToolInfo": ("swift-argument-parser/Sources/ArgumentParserToolInfo", []),
    "ArgumentParser": ("swift-argument-parser/Sources/ArgumentParser", []),
}

IMPORT = re.compile(
    r"^\s*(?:@[\w()]+\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)", re.MULTILINE)


@dataclass
class Module:
    name: str
    files: list
    flags: list = field(default_factory=list)
    # "ours", "package" or "stub"
    origin: str = "ours"

    def imports(self):
        found = set()
        for file in self.files:
            found.update(IMPORT.findall(file.read_text()))
        return found - {self.name}


@dataclass
class CTarget:
    name: str
    folder: Path
    # Those of a library of this machine.
    is_system: bool

    @property
    def sources(self):
        return sorted(self.folder.rglob("*.c"))


class Manifest:
    """The manifest as a Mac evaluates it."""

    def __init__(self):
        folder = WORK / "manifest"
        folder.mkdir(parents=True, exist_ok=True)
        text = (ROOT / "Package.swift").read_text()
        text = re.sub(r"\bos\(macOS\)|\bcanImport\(Darwin\)", "true", text)
        text = re.sub(r"\bos\(Linux\)|\bcanImport\(Glibc\)", "false", text)
        evaluated = folder / "evaluated.json"
        source = folder / "Package.swift"
        if not evaluated.exists() or not source.exists() or source.read_text() != text:
            source.write_text(text)
            dump = subprocess.run(
                ["swift", "package", "--package-path", folder, "dump-package"], check=True, capture_output=True)
            evaluated.write_bytes(dump.stdout)
        self.targets = json.loads(evaluated.read_text())["targets"]
        self.checkouts = checkouts()

    def folder(self, target):
        if target.get("path"):
            return ROOT / target["path"]
        return ROOT / ("Tests" if target["type"] == "test" else "Sources") / target["name"]

    def c_targets(self):
        """Those that our modules depend on where the condition of the dependency holds for a platform of Apple."""
        names = set()
        for target in filter(self.is_compiled, self.swift_targets()):
            for dependency in target["dependencies"]:
                (kind, value), = dependency.items()
                condition = value[-1] or {}
                if kind != "product" and condition.get("platformNames") != ["linux"]:
                    names.add(value[0])
        for target in self.targets:
            folder = self.folder(target)
            if target["name"] in names and not any(folder.rglob("*.swift")):
                yield CTarget(target["name"], folder, target["type"] == "system")

    def c_flags(self, target):
        """Those of the settings that hold for all platforms."""
        flags = ["-I", target.folder / "include"]
        (found,) = [other for other in self.targets if other["name"] == target.name]
        for setting in found["settings"]:
            (kind, value), = setting["kind"].items()
            if setting["tool"] == "c" and not setting.get("condition"):
                flags += {
                    "define": lambda: [f"-D{value['_0']}"],
                    "headerSearchPath": lambda: ["-I", target.folder / value["_0"]],
                    "unsafeFlags": lambda: value["_0"],
                }[kind]()
        return flags

    def swift_targets(self):
        for target in self.targets:
            folder = self.folder(target)
            if target["type"] != "system" and any(folder.rglob("*.swift")):
                yield target

    def is_compiled(self, target):
        """Our modules, and what tests share: no tests, for which macros would be needed, and no programs of tests."""
        return target["type"] == "regular" or self.folder(target).parent == ROOT / "Sources"

    def modules(self, platform):
        """All modules, by name, whether needed or not."""
        modules = {}
        for folder in sorted((SUPPORT / "stubs").iterdir()):
            modules[folder.name] = Module(folder.name, sorted(folder.rglob("*.swift")), origin="stub")
        for name, (path, excluded) in CHECKED_OUT.items():
            folder = self.checkouts / path
            files = swift_files(folder, [folder / path for path in excluded])
            modules[name] = Module(name, files, self.package_flags(name), "package")
        for target in filter(self.is_compiled, self.swift_targets()):
            modules[target["name"]] = self.own(target, platform)
        return modules

    def own(self, target, platform):
        folder = self.folder(target)
        excluded = [folder / path for path in target["exclude"]]
        files = swift_files(folder, excluded)
        if target.get("sources"):
            chosen = [folder / path for path in target["sources"]]
            files = [file for file in files if any(path == file or path in file.parents for path in chosen)]
        flags = ["-swift-version", "6", "-package-name", "prefetchcache", "-warnings-as-errors"]
        for setting in target["settings"]:
            condition = setting.get("condition") or {}
            platforms = condition.get("platformNames") or [platform.package_name]
            if setting["tool"] != "swift" or platform.package_name not in platforms or condition.get("config"):
                continue
            (kind, value), = setting["kind"].items()
            flags += {
                "define": lambda: [f"-D{value['_0']}"],
                "enableUpcomingFeature": lambda: ["-enable-upcoming-feature", value["_0"]],
                "enableExperimentalFeature": lambda: ["-enable-experimental-feature", value["_0"]],
                "unsafeFlags": lambda: value["_0"],
            }.get(kind, lambda: [])()
        return Module(target["name"], files, flags)

    def package_flags(self, name):
        if name == "SystemPackage":
            manifest = (self.checkouts / "swift-system/Package.swift").read_text()
            flags = ["-DSYSTEM_PACKAGE", "-DSYSTEM_PACKAGE_DARWIN", "-enable-experimental-feature", "Lifetimes"]
            for version in re.findall(r'Available\("([\d.]+)"', manifest):
                flags += ["-enable-experimental-feature", f"AvailabilityMacro=System {version}:macOS 10.10, iOS 8.0"]
            return [*flags, "-swift-version", "6"]
        return ["-swift-version", "5", "-package-name", name.lower()]


def swift_files(folder, excluded):
    return sorted(
        file for file in folder.rglob("*.swift")
        if not any(path == file or path in file.parents for path in excluded)
        and not any(parent.suffix == ".docc" for parent in file.parents))


def checkouts():
    """The folder of the packages that ours depends on."""
    for folder in [ROOT / ".build/checkouts", WORK / "package/checkouts"]:
        if all((folder / path).is_dir() for path, _ in CHECKED_OUT.values()):
            return folder
    subprocess.run(
        ["swift", "package", "--package-path", ROOT, "--scratch-path", WORK / "package", "resolve"], check=True)
    return WORK / "package/checkouts"

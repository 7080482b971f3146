"""Compiles modules in the order of their imports, and only those that have changed."""

import re
import shutil
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import sdk
from sdk import SUPPORT, WORK, digest


class Failure(Exception):
    pass


class Build:
    def __init__(self, platform, headers, manifest):
        self.platform = platform
        self.headers = headers
        self.manifest = manifest
        self.modules = manifest.modules(platform)
        self.compiled = []
        self.reused = []
        self.keys = {}

    @property
    def needed(self):
        """Our modules and all that they import, in the order of their imports."""
        graph = {}
        left = [name for name, module in self.modules.items() if module.origin == "ours"]
        while left:
            name = left.pop()
            if name not in graph:
                graph[name] = self.modules[name].imports() & self.modules.keys()
                left += graph[name]
        return list(TopologicalSorter(graph).static_order())

    def run(self):
        sdk_folder, self.sdk_key = sdk.prepare(self.platform, self.headers)
        self.out = WORK / self.platform.package_name / "modules"
        self.out.mkdir(exist_ok=True)
        self.flags = self.base_flags(sdk_folder)
        darwin = SUPPORT / "Darwin"
        self.sdk_key += digest(darwin)
        overlay = [darwin / "Overlay.swift"]
        self.keys["Darwin"] = self.compile_once("Darwin", overlay, ["-import-underlying-module"], [])
        for name in self.needed:
            module = self.modules[name]
            imports = sorted((module.imports() & self.keys.keys()) | {"Darwin"})
            flags = module.flags if module.origin == "ours" else [*module.flags, "-suppress-warnings"]
            headers = [target.folder for target in self.manifest.c_targets()] if module.origin == "ours" else []
            self.keys[name] = self.compile_once(name, module.files, flags, imports, headers)

    def base_flags(self, sdk_folder):
        search = [sdk_folder / "usr/lib/swift/shims", SUPPORT / "Darwin", self.out, *self.c_modules()]
        return [
            "-target", self.platform.triple, "-sdk", sdk_folder,
            "-module-cache-path", WORK / self.platform.package_name / "cache",
            "-Xfrontend", "-disable-objc-interop", "-Xcc", "-Wno-nullability-completeness",
            "-wmo", "-no-emit-module-separately-wmo",
            *(flag for folder in search for flag in ("-I", folder)),
        ]

    def c_modules(self):
        """The folders with the module maps of C targets, of which SwiftPM writes those that are missing."""
        maps = WORK / self.platform.package_name / "c"
        self.borrowed = maps / "borrowed"
        self.borrowed.mkdir(parents=True, exist_ok=True)
        folders = [self.borrowed, self.manifest.checkouts / "swift-system/Sources/CSystem/include",
                   self.manifest.checkouts / "GRDB.swift/Sources/GRDBSQLite"]
        borrow(folders[-1], self.borrowed)
        for target in self.manifest.c_targets():
            if target.is_system:
                borrow(target.folder, self.borrowed)
                folders.append(target.folder)
                continue
            include = target.folder / "include"
            if (include / "module.modulemap").exists():
                folders.append(include)
                continue
            folder = maps / target.name
            folder.mkdir(exist_ok=True)
            (folder / "module.modulemap").write_text(
                f'module {target.name} {{\n    umbrella "{include}"\n    export *\n}}\n')
            folders.append(folder)
        return folders

    def command(self, name, files, flags):
        library = [] if any(file.name == "main.swift" for file in files) else ["-parse-as-library"]
        return ["swiftc", *self.flags, *library, *flags, "-module-name", name, "-emit-module", "-emit-object"]

    def compile_once(self, name, files, flags, imports, headers=()):
        """Returns a text that changes with everything that went into the module."""
        key = digest(self.sdk_key, " ".join(map(str, self.flags + flags)), *(self.keys[module] for module in imports),
                     *headers, *files)
        stamp = self.out / f"{name}.key"
        if stamp.exists() and stamp.read_text() == key:
            self.reused.append(name)
            return key
        stamp.unlink(missing_ok=True)
        module = self.out / f"{name}.swiftmodule"
        object_file = self.out / f"{name}.o"
        result = subprocess.run(
            [*self.command(name, files, flags), "-emit-module-path", module, "-o", object_file, *files],
            capture_output=True, text=True)
        if result.returncode != 0:
            raise Failure(f"{name} does not compile for {self.platform.name}:\n{errors(result.stderr)}")
        if not is_mach_o(object_file):
            raise Failure(f"{object_file} is no Mach-O object.")
        stamp.write_text(key)
        self.compiled.append(name)
        return key


def errors(text):
    """The lines about errors, without the pictures of the source that follow each."""
    lines = [line for line in text.splitlines() if re.match(r"^/.*: (error|warning|note): |^error: |^<unknown>", line)]
    return "\n".join(lines) or text


def is_mach_o(file):
    # The magic number of a 64-bit object, and of a 32-bit one (mach-o/loader.h).
    return file.read_bytes()[:4] in (bytes.fromhex("cffaedfe"), bytes.fromhex("cefaedfe"))


def borrow(folder, target):
    """Copies the headers that a module of a system library includes, with those that they include themselves."""
    left = [header for shim in folder.glob("*.h") for header in included(shim)]
    while left:
        name = left.pop()
        source = Path("/usr/include") / name
        if not (target / name).exists() and source.exists() and not (folder / name).exists():
            if (sdk.WORK / "headers/include" / name).exists():
                continue
            shutil.copy(source, target / name)
            left += included(source)


def included(header):
    return re.findall(r'^\s*#\s*include\s*[<"]([\w./]+)[>"]', header.read_text(), re.MULTILINE)

"""What was compiled, and what was not."""

import re
from sdk import ROOT, SUPPORT


def show(manifest, builds, checked, red, seconds):
    for build in builds:
        show_build(build)
    state = "unchanged since" if checked.reused else "compiled"
    print(f"C: {checked.files} files of {', '.join(checked.targets)}, and {checked.asserts} asserts of constants and "
          f"layouts, for {len(checked.triples)} triples, {state}")
    print(f"    {', '.join(checked.triples)}")
    print(f"controls red, {len(red)}: {', '.join(red)}")
    print()
    show_missing(manifest, builds)
    print()
    files = sum(len(module.files) for module in ours(builds[0]))
    print(f"{len(ours(builds[0]))} modules of ours with {files} files are Mach-O for each of "
          f"{' and '.join(build.platform.name for build in builds)}: {seconds:.0f} s. Nothing was linked or run.")


def ours(build):
    return [module for module in map(build.modules.get, build.needed) if module.origin == "ours"]


def show_build(build):
    print(f"{build.platform.name} ({build.platform.triple})")
    for module in ours(build):
        state = "unchanged since" if module.name in build.reused else "compiled"
        print(f"    {module.name}: {len(module.files)} files, {state}")
    packages = [name for name in build.needed if build.modules[name].origin == "package"]
    print(f"    from checkouts: {', '.join(packages)}")


def show_missing(manifest, builds):
    print("Not compiled:")
    for target in manifest.swift_targets():
        if not manifest.is_compiled(target):
            folder = manifest.folder(target)
            files = [file for file in folder.rglob("*.swift") if not file.name.startswith(".")]
            print(f"    {target['name']}: {len(files)} files of {folder.relative_to(ROOT)}")
    for line in other_conditions(builds):
        print(f"    {line}")
    print("    Swift of any other platform or processor than the two above")
    print("Declared by a stub alone:")
    modules = builds[0].modules
    for name in builds[0].needed:
        if modules[name].origin == "stub":
            text = "".join(file.read_text() for file in modules[name].files)
            print(f"    {name}: {declarations(text)} declarations")
    overlay = declarations((SUPPORT / "Darwin/Overlay.swift").read_text())
    print(f"    Darwin: the {overlay} declarations of its overlay; the C headers are Apple's, but sys/xattr.h")
    unused = sorted(name for name, module in modules.items() if module.origin == "stub" and name not in builds[0].needed)
    if unused:
        print(f"    not imported now: {', '.join(unused)}")
    borrowed = sorted({file.name for build in builds for file in build.borrowed.glob("*.h")})
    print(f"Headers of this machine's libraries: {', '.join(borrowed)}")


def declarations(text):
    return len(re.findall(r"^\s*(?:@\w+ )*public (?!import|typealias)|^\s+case \w", text, re.MULTILINE))


def other_conditions(builds):
    """The branches of our sources for a platform that none of the builds is for."""
    compiled = {"macOS", "iOS"}
    for module in ours(builds[0]):
        for file in module.files:
            for number, line in enumerate(file.read_text().splitlines(), 1):
                platforms = set(re.findall(r"\bos\((\w+)\)", line))
                if re.match(r"\s*#(?:else)?if\b", line) and platforms - compiled - {"Linux"}:
                    yield f"{file.relative_to(ROOT)}:{number}: {line.strip()}, where it holds"

# SPDX-License-Identifier: Apache-2.0
"""Makes empty libraries in the place of the GPU libraries that torch's wheel is linked with.

The wheel of PyPI names a dozen of them as needed, gigabytes that a machine without a GPU has no use for. Here each is a shared library of the same name with
the symbols that torch asks of it; all they do is say that there is no device. torch's own code for the processor is untouched.
"""

import collections
import pathlib
import re
import subprocess
import sys

GPU_LIBRARY = re.compile(r"lib(cu|nccl|nv)")
GPU_SYMBOL = re.compile(r"(cu|nccl|nv|__cuda)", re.IGNORECASE)
NO_DEVICE = 100  # cudaErrorNoDevice
ANY_VERSION = ""


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def needs(library):
    """Names of needed GPU libraries, and which of them defines a version of symbols."""
    text = output("objdump", "-p", library)
    needed = [name for name in re.findall(r"NEEDED\s+(\S+)", text) if GPU_LIBRARY.match(name)]
    owner_of = {}
    for block in re.findall(r"required from (\S+):\n((?:\s+0x.*\n)+)", text):
        for version in re.findall(r"\s(\S+)\n", block[1]):
            owner_of[version] = block[0]
    return needed, owner_of


def wanted_symbols(folder):
    """{library: {version: {symbol}}} of everything in torch's folder."""
    libraries = sorted(path for pattern in ("libtorch*.so", "libc10*.so") for path in folder.glob(pattern))
    shipped = {path.name for path in folder.iterdir()}
    wanted = {}
    undefined = []
    owner_of = {}
    for library in libraries:
        needed, owners = needs(library)
        owner_of.update(owners)
        for name in needed:
            if name not in shipped:
                wanted.setdefault(name, collections.defaultdict(set))
        undefined += re.findall(r"^\s+[Uw] (\S+)$", output("nm", "-D", "--undefined-only", "--with-symbol-versions", library), re.MULTILINE)
    if not wanted:
        return {}
    anywhere = min(wanted)  # a symbol without a version may come from any of them
    for symbol in undefined:
        name, _, version = symbol.partition("@")
        version = version.lstrip("@")
        if version and owner_of.get(version) in wanted:
            wanted[owner_of[version]][version].add(name)
        elif not version and GPU_SYMBOL.match(name):
            wanted[anywhere][ANY_VERSION].add(name)
    return wanted


def function(name):
    if name.endswith(("ErrorString", "ErrorName", "StatusString", "GetErrorEnum")) or "ErrorString" in name:
        return f'const char* {name}(void) {{ return "no GPU library"; }}'
    if name.startswith("__cudaRegister"):
        return f"void* {name}(void) {{ static int registered[16]; return registered; }}"
    return f"long {name}(void) {{ return {NO_DEVICE}; }}"


def build(name, by_version, folder):
    source = folder / (name + ".c")
    source.write_text("\n".join(function(symbol) for symbols in by_version.values() for symbol in sorted(symbols)) + "\n")
    command = ["cc", "-shared", "-fPIC", "-O1", "-w", "-fno-builtin", f"-Wl,-soname,{name}", "-o", folder / name, source]
    versions = {version: symbols for version, symbols in by_version.items() if version != ANY_VERSION}
    if versions:
        script = folder / (name + ".map")
        script.write_text("".join(f"{version} {{ global: {'; '.join(sorted(symbols))}; }};\n" for version, symbols in versions.items()))
        command.append(f"-Wl,--version-script,{script}")
    output(*command)


def main(torch_folder, out):
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = wanted_symbols(pathlib.Path(torch_folder))
    for name, by_version in wanted.items():
        build(name, by_version, folder)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: gpu_libraries.py TORCH/lib FOLDER")
    sys.exit(main(*sys.argv[1:]))

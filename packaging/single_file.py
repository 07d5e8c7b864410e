# SPDX-License-Identifier: Apache-2.0
"""single_file.py FOLDER VERSION SOURCE...: the CPU part of Halite as two files, FOLDER/halite.c and FOLDER/halite.h.

In: the .c files of the runtime, and NAME=FILE to take FILE where a source includes NAME; SOURCE:NAME=FILE in that source
alone. Out: halite.h is what programs
include, the public C headers in one; halite.c is all sources one after the other, each header once, where it is first
asked for. What is static in two files gets a number in the later one, and a file's macros end with it. Microkernels are
those of the compiler's own vector width: with -mavx2 others than without are not chosen at run time."""

import hashlib
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PUBLIC = ["tensorflow/lite/c/c_api.h", "tensorflow/lite/c/c_api_experimental.h", "tensorflow/lite/c/c_api_opaque.h",
          "tensorflow/lite/c/common.h", "tensorflow/lite/builtin_ops.h", "halite/halite.h", "halite/queue.h"]  # fmt: skip
HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Halite {}, {}. Made by packaging/single_file.py.\n"
# Files of packed weights are for one layout, which depends on what the compiler is told of the processor.
KERNELS = """#if defined __AVX512F__
#define HALITE_KERNELS "{0}-512"
#elif defined __AVX2__
#define HALITE_KERNELS "{0}-256"
#else
#define HALITE_KERNELS "{0}"
#endif
"""
INCLUDE = re.compile(r'^ *# *include *"([^"]+)".*$')
# A comment, a text, a character, a word, a number, a line of the preprocessor's start, anything else.
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\.?\d[\w.]*|->|\.\.\.|\s+|.', re.S
)
ATTRIBUTE = re.compile(r"__attribute__ *\(\((?:[^()]|\([^()]*\))*\)\)")  # its name is not that of a function
KEYWORDS = set("""auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool
    _Static_assert _Alignas _Thread_local _Generic bool true false NULL""".split())  # fmt: skip


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Writer:
    """Puts texts together; each header once, a .def file wherever it is asked for."""

    def __init__(self, instead):
        self.seen, self.instead, self.source = set(), instead, ""

    def find(self, name, folder):
        for key in (f"{self.source}:{name}", name):
            if key in self.instead:
                return self.instead[key]
        for base in (folder, os.path.join(ROOT, "include"), os.path.join(ROOT, "src")):
            path = os.path.realpath(os.path.join(base, name))
            if os.path.isfile(path):
                return path
        raise SystemExit(f"single_file: no {name}, which a file in {folder} includes")

    def header(self, path):
        """A header's text with those that it includes, empty the second time; a table's text each time."""
        if path in self.seen:
            return ""
        if not path.endswith(".def"):
            self.seen.add(path)
        return self.text(read(path), os.path.dirname(path))

    def text(self, source, folder):
        lines, depth, seen = [], 0, self.seen
        guarded = re.search(r"^ *#ifndef HALITE_\w+_H$|^ *#ifndef TENSORFLOW_\w+_H_$", source, re.M)
        for line in source.splitlines(keepends=True):
            depth += bool(re.match(r" *# *if", line)) - bool(re.match(r" *# *endif", line))
            included = INCLUDE.match(line.rstrip("\n"))
            # What is included under a condition may be asked for elsewhere: its guard stands, and it comes again.
            self.seen = set(seen) if depth > bool(guarded) else seen
            lines.append(self.header(self.find(included[1], folder)) if included else line)
        self.seen = seen
        return "".join(lines)


def expanded(path):
    """What the preprocessor makes of a file's own lines, and of the headers' of this tree: $CC, else cc, is asked."""
    flags = ["-E", "-std=c11", f"-I{ROOT}/include", f"-I{ROOT}/src", '-DHALITE_VERSION=""', '-DHALITE_KERNELS=""']
    done = subprocess.run([os.environ.get("CC", "cc"), *flags, "-D_POSIX_C_SOURCE=200809L", path], capture_output=True,
                          text=True, check=True)  # fmt: skip
    found, into = {"own": [], "headers": [], "others": []}, "own"
    for line in done.stdout.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            into = "own" if marker[1] == path else "headers" if marker[1].startswith(ROOT + "/src") else "others"
        else:
            found[into].append(ATTRIBUTE.sub("", re.sub(r'"(?:\\.|[^"\\\n])*"', '""', line)))
    return "\n".join(found["own"]), "\n".join(found["headers"])


def statics(code):
    """The names that a text has for itself: static functions and objects, tags, enumerators, types."""
    tags = {"struct " + tag for tag in re.findall(r"\b(?:struct|enum|union)\s+(\w+)\s*{", code)}
    names, depth, statement = tags, 0, []
    for token in TOKEN.findall(code):
        if token.isspace():
            continue
        if token in "{":
            depth += 1
            if depth == 1 and "enum" in statement:
                statement += ["{"]
                continue
            statement = statement if depth > 1 else statement + ["{"]
        elif token == "}":
            depth -= 1
            own = last_static(statement)
            if depth == 0 and "(" in own and own[-1] == "{" and "=" not in own:
                names |= declared(statement)
                statement = []
        elif depth == 0 and token == ";":
            names |= declared(statement)
            statement = []
        elif depth == 0 or (depth == 1 and "enum" in statement and "=" not in statement[: statement.index("{")]
                            and "(" not in statement[: statement.index("{")]):  # fmt: skip
            statement.append(token)
    return names


def last_static(statement):
    """What follows the calls of macros that may stand before a declaration."""
    return statement[len(statement) - 1 - statement[::-1].index("static") :] if "static" in statement else statement


def declared(statement):
    """Names of one declaration at file scope, a list of tokens without what is in braces."""
    names = set()
    brace = statement.index("{") if "{" in statement else len(statement)
    if "enum" in statement[:brace] and brace < len(statement) and "(" not in statement[:brace]:
        fresh = True
        for token in statement[brace + 1 :]:
            if fresh and re.match(r"[A-Za-z_]\w*$", token):
                names.add(token)
            fresh = token == ","
    if statement and statement[0] == "typedef":
        text = " ".join(statement)
        function = re.search(r"\( \* (\w+) \)", text) or re.search(r"(\w+) \(", text)
        names.add(function[1] if function else statement[-1])
    if "static" in statement:  # calls of macros may stand before it
        statement = last_static(statement)
        for i, token in enumerate(statement):
            after = statement[i + 1] if i + 1 < len(statement) else ";"
            if re.match(r"[A-Za-z_]\w*$", token) and token not in KEYWORDS and after in ("(", "=", "[", ";", ",", "{"):
                before = statement[i - 1] if i else ""
                if before not in ("struct", "enum", "union"):
                    names.add(token)
                    if after != ",":
                        break
    return names


def rename(source, names, number):
    """The source with these names numbered, but for members."""
    out, before = [], ""
    for token in TOKEN.findall(source):
        tag = before in ("struct", "enum", "union")
        if before not in (".", "->") and ("struct " + token if tag else token) in names:
            token = f"{token}_{number}"
        out.append(token)
        if not token.isspace():
            before = token
    return "".join(out)


def main(folder, version, *arguments):
    instead = dict(pair.split("=", 1) for pair in arguments if "=" in pair)
    sources = [os.path.realpath(path) for path in arguments if "=" not in path]
    writer = Writer(instead)
    public = "".join(writer.header(writer.find(name, ROOT)) for name in PUBLIC)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "halite.h"), "w", encoding="utf-8") as out:
        out.write(HEAD.format(version, "what programs include"))
        out.write(f"#ifndef HALITE_SINGLE_H\n#define HALITE_SINGLE_H\n{public}\n#endif\n")
    headers = sorted({os.path.dirname(path) for path in sources})
    headers = [os.path.join(folder, name) for folder in headers for name in os.listdir(folder) if name.endswith(".h")]
    parts = "".join(map(read, [*sources, *headers]))
    ends = tuple(re.findall(r"##\s*(_\w+)", parts))
    starts = tuple(re.findall(r"(\w+_)\s*##", parts))
    texts = [expanded(path) for path in sources]
    taken = set().union(*(statics(others) for _, others in texts))
    with open(os.path.join(folder, "halite.c"), "w", encoding="utf-8") as out:
        out.write(HEAD.format(version, "the runtime for CPUs: cc -O3 -c halite.c"))
        out.write("#define _POSIX_C_SOURCE 200809L\n#define _XOPEN_SOURCE 700\n#define _FILE_OFFSET_BITS 64\n")
        # base/library_posix.c asks for it before its first header, which here others have included already.
        out.write("#if defined(__linux__) || defined(__EMSCRIPTEN__)\n#define _GNU_SOURCE\n#endif\n")
        out.write(f'#define HALITE_VERSION "{version}"\n')
        out.write(KERNELS.format(hashlib.sha256("".join(map(read, sources)).encode()).hexdigest()[:16]))
        out.write('#include "halite.h"\n')
        for number, (path, (own, _)) in enumerate(zip(sources, texts)):
            source, names, writer.source = read(path), statics(own), os.path.relpath(path, ROOT)
            macros = set(re.findall(r"^ *# *define +(\w+)", source, re.M))
            again = names & taken
            source = rename(source, again, number)
            # What macros put together with ## is a word only then.
            pasted = {name for name in again if name.endswith(ends) or name.startswith(starts)}
            pasted -= {name for name in pasted if re.search(rf"(?:\.|->){name}\b", source)}  # a member's, too
            taken |= names
            macros |= pasted
            out.writelines(f"#define {name} {name}_{number}\n" for name in sorted(pasted))
            out.write(f"\n// ---- {os.path.relpath(path, ROOT)}\n{writer.text(source, os.path.dirname(path))}\n")
            out.writelines(f"#undef {macro}\n" for macro in sorted(macros))


main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""sbom.py ARCHIVE VERSION SECONDS: the bill of materials of an archive as SPDX 2.3 JSON, on standard output.

In: an archive with programs and libraries; SECONDS is its time. Out: each file with its sums, and what programs and
libraries are made of or need: code that is compiled in, and shared libraries of the system, by readelf."""

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import time

# What is compiled into programs of Halite and is not Halite's: headers with code.
COMPILED_IN = {"stb": ("MIT OR Unlicense", "reads and writes PNG and BMP in the halite command")}


def identifier(text):
    return "SPDXRef-" + "".join(c if c.isalnum() else "-" for c in text)


def package(name, license_, version=None, comment=None):
    row = {"SPDXID": identifier(name), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
           "licenseConcluded": license_, "licenseDeclared": license_, "copyrightText": "NOASSERTION"}  # fmt: skip
    row.update({"versionInfo": version} if version else {}, **({"comment": comment} if comment else {}))
    return row


def needed(data):
    """Names of the shared libraries that a file asks for."""
    if data[:4] != b"\x7fELF":
        return []
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        text = subprocess.run(["readelf", "-dW", file.name], capture_output=True, text=True, check=True).stdout
    return [line.split("[")[1].split("]")[0] for line in text.splitlines() if "(NEEDED)" in line]


def main(archive, version, seconds):
    files, relations, libraries, own = [], [], set(), set()
    with tarfile.open(archive) as tar:
        for member in tar:
            own.add(member.name.rsplit("/", 1)[-1])
            if not member.isfile():
                continue
            data = tar.extractfile(member).read()
            sums = [{"algorithm": kind.upper(), "checksumValue": hashlib.new(kind, data).hexdigest()}
                    for kind in ("sha1", "sha256")]  # fmt: skip
            reference = identifier(f"file-{len(files)}")
            files.append({"SPDXID": reference, "fileName": "./" + member.name, "checksums": sums,
                          "licenseConcluded": "Apache-2.0", "copyrightText": "NOASSERTION"})  # fmt: skip
            relations.append(("SPDXRef-halite", "CONTAINS", reference))
            for library in needed(data):
                libraries.add(library)
                relations.append((reference, "DYNAMIC_LINK", identifier(library)))
    libraries -= own
    packages = [package("halite", "Apache-2.0", version)]
    packages += [package(name, license_, None, text) for name, (license_, text) in COMPILED_IN.items()]
    packages += [package(name, "NOASSERTION", None, "a shared library of the system") for name in sorted(libraries)]
    known = {row["SPDXID"] for row in packages + files}
    relations += [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-halite")]
    relations += [("SPDXRef-halite", "STATIC_LINK", identifier(name)) for name in COMPILED_IN]
    digest = hashlib.sha256("".join(file["checksums"][1]["checksumValue"] for file in files).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"halite-{version}",
        "documentNamespace": f"urn:halite:{version}:{digest}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds))),
            "creators": ["Organization: Halite maintainers"],
        },
        "packages": packages,
        "files": files,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations if b in known
        ],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


main(*sys.argv[1:])

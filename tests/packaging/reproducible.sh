#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reproducible.sh: this tree, built in two folders of different names, gives the same archives, byte by byte, with the same sums
# and the same bill of materials, which names every file of the archive.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=1700000000
CCACHE_DISABLE=1
export SOURCE_DATE_EPOCH CCACHE_DISABLE
for folder in one another/folder; do
    mkdir -p "$work/$folder"
    git ls-files -co --exclude-standard | tar -c --ignore-failed-read -T - 2>/dev/null | tar -x -C "$work/$folder"
    (cd "$work/$folder" && sh packaging/package.sh archive) >"$work/log" 2>&1 || {
        status=$?
        tail -20 "$work/log"
        exit $status
    }
    sleep 2 # a time in a file would differ
done
cd "$work/one/build/package/archive"
count=0
for file in *; do
    [ -f "$file" ] || continue
    cmp "$file" "$work/another/folder/build/package/archive/$file"
    count=$((count + 1))
done
[ $count -eq 4 ] || {
    ls
    echo "$count files, and not an archive, a source archive, a bill of materials and sums"
    exit 1
}
sha256sum --check --quiet SHA256SUMS
python3 - ./*.spdx.json ./*-linux-*.tar.xz <<'END'
import hashlib, json, sys, tarfile
document = json.load(open(sys.argv[1]))
files = {file["fileName"]: file["checksums"] for file in document["files"]}
with tarfile.open(sys.argv[2]) as tar:
    members = {"./" + member.name: tar.extractfile(member).read() for member in tar if member.isfile()}
assert files.keys() == members.keys() and len(files) > 100, len(files)
for name, data in members.items():
    assert {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()} in files[name], name
ids = [row["SPDXID"] for row in document["packages"] + document["files"]] + [document["SPDXID"]]
assert len(ids) == len(set(ids))
for relation in document["relationships"]:
    assert relation["spdxElementId"] in ids and relation["relatedSpdxElement"] in ids, relation
names = [package["name"] for package in document["packages"]]
assert "libc.so.6" in names and any(name.startswith("libjpeg.so") for name in names), names
END
echo "$count files are the same from two folders:"
cat SHA256SUMS

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# package.sh KIND: makes packages of this tree, with what is not yet committed; run it as `./dev package KIND`. Out: files in
# build/package. The same tree gives the same bytes wherever it lies: times are those of the last commit.
#     deb       Debian source package and binary packages, looked through by lintian
#     archive   an archive of what is installed, one of the source, their bill of materials (SPDX) and sums (SHA256SUMS)
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build/package
version=$(sed -n 's/^project(halite VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1700000000)}
export SOURCE_DATE_EPOCH
mkdir -p "$out"

# cannot WORD...: this machine lacks something; the status that ctest reads as skipped.
cannot() {
    echo "package: $*" >&2
    exit 77
}

# source_archive FILE: the tree as an archive whose bytes depend on its files alone.
source_archive() {
    {
        git ls-files -co --exclude-standard 2>/dev/null || # an unpacked source archive
            find . \( -path ./build -o -name __pycache__ \) -prune -o ! -type d -print | sed 's,^\./,,'
    } | while read -r file; do
        if [ -e "$file" ] || [ -h "$file" ]; then echo "$file"; fi
    done | LC_ALL=C sort | tar --create --no-recursion --files-from=- --transform="flags=r;s,^,halite-$version/," \
        --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar | gzip -9n >"$1"
}

deb() {
    for tool in dpkg-buildpackage dh dh_python3 lintian; do
        command -v $tool >/dev/null || cannot "no $tool (dpkg-dev, debhelper, dh-python, lintian)"
    done
    rm -rf "$out/deb"
    mkdir -p "$out/deb"
    source_archive "$out/deb/halite_$version.orig.tar.gz"
    cd "$out/deb"
    tar -xf "halite_$version.orig.tar.gz"
    cd "halite-$version"
    cp -r packaging/debian debian
    cat >debian/changelog <<END
halite ($version-1) unstable; urgency=medium

  * Version $version; upstream's changes are in CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
    dpkg-checkbuilddeps || cannot "the packages above are missing"
    dpkg-buildpackage -us -uc >../build.log 2>&1 || {
        tail -40 ../build.log
        exit 1
    }
    cd ..
    # A first upload closes the request for the package, which nobody has made.
    lintian --fail-on warning --suppress-tags initial-upload-closes-no-bugs ./*.changes
    ls -l ./*.deb ./*.dsc
}

archive() {
    for tool in cmake ninja readelf python3 xz; do
        command -v $tool >/dev/null || cannot "no $tool"
    done
    build=$out/archive.build
    rm -rf "$out/archive"
    mkdir -p "$out/archive"
    # No folder of this machine in what is built, nor the length of its name, which a library's path to others has.
    flags="-ffile-prefix-map=$build=. -ffile-prefix-map=$PWD=."
    {
        cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="$flags" -DHALITE_TESTS=OFF \
            -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON -DHALITE_PYTHON=OFF -DHALITE_JAVA=OFF -DHALITE_OBJC=OFF
        cmake --build "$build"
        (cd "$build" && cpack)
    } >"$out/archive.log" 2>&1 || {
        tail -20 "$out/archive.log"
        exit 1
    }
    mv "$build"/halite-*.tar.xz "$out/archive/"
    source_archive "$out/archive/halite-$version.tar.gz"
    cd "$out/archive"
    for file in halite-*.tar.xz; do
        python3 "$OLDPWD/packaging/sbom.py" "$file" "$version" "$SOURCE_DATE_EPOCH" >"${file%.tar.xz}.spdx.json"
    done
    sha256sum halite-* >../SHA256SUMS
    mv ../SHA256SUMS .
    cat SHA256SUMS
}

case ${1:-} in
    deb | archive) "$1" ;;
    *)
        echo "usage: package.sh deb|archive" >&2
        exit 2
        ;;
esac

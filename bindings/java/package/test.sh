#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh REPOSITORY: is the Maven repository of package.sh what applications and their build tools need? Checks the files, and
# compiles and runs an application against it, offline and outside of the tree.
set -eu
repository=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}
command -v javac >/dev/null || { echo "skipped: no JDK (openjdk-17-jdk-headless)"; exit 77; }
cp -R "$repository" "$work/repository"
cd "$work"

# check_pom FILE: it lies where its coordinates say, and what it needs is there.
check_pom() {
    if command -v python3 >/dev/null; then
        python3 - "$1" repository <<'END' || fail "$1"
import pathlib, sys
import xml.etree.ElementTree as xml
pom, repository = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
space = "{http://maven.apache.org/POM/4.0.0}"
root = xml.parse(pom).getroot()
group, artifact, version = (root.findtext(space + name) for name in ("groupId", "artifactId", "version"))
assert pom == repository.joinpath(*group.split(".")) / artifact / version / f"{artifact}-{version}.pom", pom
for needed in root.iter(space + "dependency"):
    group, artifact, version = (needed.findtext(space + name) for name in ("groupId", "artifactId", "version"))
    file = repository.joinpath(*group.split(".")) / artifact / version / f"{artifact}-{version}.jar"
    assert group == "org.jetbrains.kotlin" or file.is_file(), artifact
index = xml.parse(pom.parents[1] / "maven-metadata.xml").getroot()
assert index.findtext("versioning/release") == root.findtext(space + "version")
END
    fi
}

# ---- the files of each artifact ----------------------------------------------------------------------------------------
for pom in $(find repository -name '*.pom' | LC_ALL=C sort); do
    name=${pom%.pom}
    files="$name.jar $name-sources.jar $name-javadoc.jar $name.aar"
    case $name in */halite-kotlin-*) files="$name.jar $name-sources.jar" ;; esac
    for file in $files; do
        [ -s "$file" ] || fail "no $file"
        [ "$(sha1sum <"$file" | cut -c1-40)" = "$(cat "$file.sha1")" ] || fail "the checksum of $file"
    done
    jar tf "$name.jar" >"$work/list"
    grep -qx META-INF/LICENSE "$work/list" || fail "no license in $name.jar"
    check_pom "$pom"
    [ -f "$name.aar" ] || continue
    jar tf "$name.aar" | LC_ALL=C sort | grep -v '^jni/' >"$work/list"
    printf '%s\n' AndroidManifest.xml LICENSE R.txt classes.jar proguard.txt | cmp -s - "$work/list" ||
        fail "$name.aar: $(cat "$work/list")"
    mkdir -p aar && (cd aar && jar xf "../$name.aar" && jar tf classes.jar >"$work/list")
    grep -q 'native/' "$work/list" && fail "libraries of desktops in $name.aar"
    case $name in
        *gpu*)
            [ "$(grep -c 'uses-native-library .*required="false"' aar/AndroidManifest.xml)" -eq 3 ] ||
                fail "the manifest of $name"
            ;;
        *) grep -q uses-native-library aar/AndroidManifest.xml && fail "the manifest of $name" ;;
    esac
    rm -rf aar
done
documents=$(find repository -name 'tensorflow-lite-[0-9]*-javadoc.jar' | head -1)
jar tf "$documents" | grep -q '^org/tensorflow/lite/Interpreter.html$' || fail "no page of Interpreter in $documents"

# ---- the libraries in them ---------------------------------------------------------------------------------------------
mkdir natives
for archive in $(find repository -name 'tensorflow-lite*[0-9].jar'); do (cd natives && jar xf "../$archive"); done
for platform in natives/org/tensorflow/lite/native/*; do
    ! command -v readelf >/dev/null || sh "$root/tests/api/segments.sh" "$platform" || fail "segments of $platform"
    case $platform in
        *-aarch64) machine=AArch64 ;;
        *) machine=X86-64 ;;
    esac
    for file in "$platform"/*.so; do
        ! command -v readelf >/dev/null || readelf -h "$file" | grep -q "Machine:.*$machine" ||
            fail "$file is for another machine"
    done
    echo "${platform##*/}: $(cd "$platform" && echo *.so)"
done

# ---- an application ----------------------------------------------------------------------------------------------------
for group in org/tensorflow io/github/halite; do
    [ -d "repository/$group" ] || continue
    classpath=.
    for file in $(find "repository/$group" -name 'tensorflow-lite*[0-9].jar'); do classpath=$classpath:$file; done
    only=$(find "repository/$group/tensorflow-lite" -name 'tensorflow-lite-[0-9]*[0-9].jar')
    javac -cp "$only" -d . "$root/bindings/java/package/Consumer.java"
    env -u LD_LIBRARY_PATH java -cp ".:$only" Consumer "$root/demo/digits.tflite" >out || fail "$(cat out)"
    grep -q '^digit 2, ' out || fail "$(cat out)"
    env -u LD_LIBRARY_PATH java -cp "$classpath" Consumer "$root/demo/digits.tflite" gpu >out || fail "$(cat out)"
    grep -q '^GPU [tf]' out || fail "$(cat out)"
    echo "$group: $(tr '\n' ' ' <out)"
done

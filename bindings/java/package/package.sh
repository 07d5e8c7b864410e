#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# package.sh BUILD REPOSITORY VERSION [ANDROID]: writes a Maven repository of the Java binding. In: a build of this tree, with
# BUILD/java/tensorflow-lite.jar and BUILD/lib; further Linux libraries in build/java/PLATFORM/lib (see platform.sh); ANDROID, a
# folder with lib/ABI/lib*.so. Out: for each artifact a jar, its sources, its documentation, an AAR and a POM, with checksums.
#
# The artifacts, under the original's group for programs that change where the library comes from and nothing else, and under
# our own, which alone may be published (README.md):
#   tensorflow-lite          the classes of org.tensorflow.lite and the runtime
#   tensorflow-lite-gpu-api  the classes of org.tensorflow.lite.gpu
#   tensorflow-lite-gpu      the GPU delegate's library
# and under our own group alone, where BUILD/kotlin/halite-kotlin.jar is:
#   halite-kotlin            helpers for Kotlin
# The same tree gives the same bytes.
set -eu
build=$(cd "$1" && pwd)
repository=$2
version=$3
android=${4:-/nowhere}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
jar=${JAR:-jar}
javadoc=${JAVADOC:-javadoc}
own_group=${HALITE_JAVA_GROUP:-io.github.halite}
own_version=$(sed -n 's/^project(halite VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 1700000000)}
date=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
classes=$build/java/tensorflow-lite.jar.classes
sources=$root/bindings/java/src
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -d "$classes" ] || { echo "package: no $classes; build java_package first" >&2; exit 1; }

# pack ARCHIVE FOLDER: an archive of what is in FOLDER.
pack() {
    case $1 in *.aar) flags=cfM ;; *) flags=cf ;; esac
    "$jar" --date="$date" "$flags" "$1" -C "$2" . 2>/dev/null || "$jar" "$flags" "$1" -C "$2" . # before JDK 17
}

# native_libraries FOLDER LIBRARY: the library for every platform that was built, where NativeLibrary looks for it.
native_libraries() {
    for platform in linux-x86_64 linux-aarch64; do
        file=$root/build/java/$platform/lib/$2
        [ -f "$file" ] || [ "$platform" != "linux-$(uname -m)" ] || file=$build/lib/$2
        [ -f "$file" ] || continue
        mkdir -p "$1/org/tensorflow/lite/native/$platform"
        cp "$file" "$1/org/tensorflow/lite/native/$platform/"
        chmod 644 "$1/org/tensorflow/lite/native/$platform/$2"
    done
}

# select_files FROM TO WHICH: of classes or sources those of the artifact.
select_files() {
    mkdir -p "$2/org/tensorflow/lite"
    case $3 in
        tensorflow-lite)
            cp -R "$1/org/tensorflow/lite/." "$2/org/tensorflow/lite/"
            rm -rf "$2/org/tensorflow/lite/gpu"
            ;;
        tensorflow-lite-gpu-api) cp -R "$1/org/tensorflow/lite/gpu" "$2/org/tensorflow/lite/" ;;
        *) rmdir "$2/org/tensorflow/lite" "$2/org/tensorflow" "$2/org" ;; # native code alone
    esac
}

# write_manifest FILE ARTIFACT: the GPU's libraries are the device's own, and not every device has them.
write_manifest() {
    libraries=
    case $2 in
        *gpu*)
            for name in libOpenCL.so libOpenCL-car.so libOpenCL-pixel.so; do
                libraries="$libraries        <uses-native-library android:name=\"$name\" android:required=\"false\" />\\
"
            done
            ;;
    esac
    package=org.tensorflow.lite$(echo "${2#tensorflow-lite}" | tr '-' '.')
    sed "s|@PACKAGE@|$package|; s|@LIBRARIES@|${libraries%??}|; /^\$/d" "$here/AndroidManifest.xml.in" >"$1"
}

# write_aar FILE ARTIFACT LIBRARY CLASSES-JAR
write_aar() {
    mkdir -p "$work/aar"
    cp "$4" "$work/aar/classes.jar"
    write_manifest "$work/aar/AndroidManifest.xml" "$2"
    cp "$here/proguard.txt" "$root/LICENSE" "$work/aar/"
    : >"$work/aar/R.txt" # the format wants the file; there are no resources
    for folder in "$android"/lib/*; do
        [ -f "$folder/$3" ] || continue
        mkdir -p "$work/aar/jni/${folder##*/}"
        cp "$folder/$3" "$work/aar/jni/${folder##*/}/"
    done
    pack "$1" "$work/aar"
    rm -rf "$work/aar"
}

dependency() {
    printf '    <dependency>\\\n      <groupId>%s</groupId>\\\n      <artifactId>%s</artifactId>\\\n' "$1" "$2"
    printf '      <version>%s</version>\\\n      <scope>%s</scope>\\\n    </dependency>\\\n' "$3" "$4"
}

# write_pom FILE GROUP ARTIFACT VERSION
write_pom() {
    needs=
    describes="TensorFlow Lite models on the JVM, by Halite"
    case $3 in
        tensorflow-lite-gpu-api)
            describes="The classes of Halite's GPU delegate"
            needs=$(dependency "$2" tensorflow-lite "$4" compile)
            ;;
        tensorflow-lite-gpu)
            describes="The native library of Halite's GPU delegate"
            needs=$(dependency "$2" tensorflow-lite "$4" compile && dependency "$2" tensorflow-lite-gpu-api "$4" compile)
            ;;
    esac
    [ "$3" != halite-kotlin ] || {
        describes="Kotlin helpers for Halite's org.tensorflow.lite"
        needs=$(dependency "$2" tensorflow-lite "$4" compile &&
            dependency org.jetbrains.kotlin kotlin-stdlib 1.3.31 compile)
    }
    # An Android build takes what the packaging says, so the AAR comes first where it holds libraries.
    packaging=jar
    [ ! -d "$android/lib" ] || packaging=aar
    sed "s|@GROUP@|$2|; s|@ARTIFACT@|$3|; s|@VERSION@|$4|; s|@PACKAGING@|$packaging|; s|@DESCRIPTION@|$describes|
        s|@DEPENDENCIES@|${needs%?}|; /^\$/d" "$here/pom.xml.in" >"$1"
}

write_checksums() {
    for file in "$1"/*; do
        sha1sum "$file" | cut -c1-40 | tr -d '\n' >"$work/sum" && cp "$work/sum" "$file.sha1"
        sha256sum "$file" | cut -c1-64 | tr -d '\n' >"$work/sum" && cp "$work/sum" "$file.sha256"
    done
}

# write_index FOLDER GROUP ARTIFACT VERSION: which versions there are.
write_index() {
    cat >"$1/maven-metadata.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<metadata>
  <groupId>$2</groupId>
  <artifactId>$3</artifactId>
  <versioning>
    <release>$4</release>
    <versions><version>$4</version></versions>
  </versioning>
</metadata>
END
    sha1sum "$1/maven-metadata.xml" | cut -c1-40 | tr -d '\n' >"$1/maven-metadata.xml.sha1"
}

# write_artifact ARTIFACT LIBRARY
write_artifact() {
    rm -rf "$work/classes" "$work/sources" "$work/made"
    mkdir -p "$work/classes/META-INF" "$work/sources" "$work/made"
    select_files "$classes" "$work/classes" "$1"
    select_files "$sources" "$work/sources" "$1"
    cp "$root/LICENSE" "$work/classes/META-INF/"
    mkdir -p "$work/sources/META-INF"
    cp "$root/LICENSE" "$work/sources/META-INF/"
    pack "$work/made/classes.jar" "$work/classes"
    write_aar "$work/made/$1.aar" "$1" "$2" "$work/made/classes.jar"
    native_libraries "$work/classes" "$2"
    pack "$work/made/$1.jar" "$work/classes"
    pack "$work/made/$1-sources.jar" "$work/sources"
    pack "$work/made/$1-javadoc.jar" "$work/javadoc"
    for place in "org.tensorflow $version" "$own_group $own_version"; do
        group=${place% *}
        folder=$repository/$(echo "$group" | tr . /)/$1
        rm -rf "$folder"
        mkdir -p "$folder/${place#* }"
        for kind in .jar -sources.jar -javadoc.jar .aar; do
            cp "$work/made/$1$kind" "$folder/${place#* }/$1-${place#* }$kind"
        done
        write_pom "$folder/${place#* }/$1-${place#* }.pom" "$group" "$1" "${place#* }"
        write_checksums "$folder/${place#* }"
        write_index "$folder" "$group" "$1" "${place#* }"
    done
}

# Classes alone, which Android's build takes as well as the JVM.
write_kotlin() {
    folder=$repository/$(echo "$own_group" | tr . /)/halite-kotlin
    rm -rf "$folder" "$work/classes" "$work/sources"
    [ -f "$build/kotlin/halite-kotlin.jar" ] || return 0
    mkdir -p "$folder/$own_version" "$work/classes/META-INF" "$work/sources/META-INF"
    (cd "$work/classes" && "$jar" xf "$build/kotlin/halite-kotlin.jar")
    cp -R "$root/bindings/kotlin/src/." "$work/sources/"
    for kind in classes sources; do cp "$root/LICENSE" "$work/$kind/META-INF/"; done
    pack "$folder/$own_version/halite-kotlin-$own_version.jar" "$work/classes"
    pack "$folder/$own_version/halite-kotlin-$own_version-sources.jar" "$work/sources"
    android=/nowhere
    write_pom "$folder/$own_version/halite-kotlin-$own_version.pom" "$own_group" halite-kotlin "$own_version"
    write_checksums "$folder/$own_version"
    write_index "$folder" "$own_group" halite-kotlin "$own_version"
}

mkdir -p "$work/javadoc" "$repository"
# shellcheck disable=SC2046  # no source has blanks in its name
"$javadoc" -quiet -notimestamp -Xdoclint:none -encoding UTF-8 -d "$work/javadoc" \
    $(find "$sources" -name '*.java') >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
write_artifact tensorflow-lite libtensorflowlite_jni.so
write_artifact tensorflow-lite-gpu-api none
write_artifact tensorflow-lite-gpu libtensorflowlite_gpu_jni.so
write_kotlin
echo "$repository:"
(cd "$repository" && find . -name '*.jar' -o -name '*.aar' -o -name '*.pom') | LC_ALL=C sort

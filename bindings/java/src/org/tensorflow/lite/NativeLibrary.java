// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * Finds and loads the libraries of native code. Applications have no use for it; it is public for the other packages of
 * this library.
 */
public final class NativeLibrary {
    private static final String FOLDER = "org.tensorflow.lite.library.path";

    private NativeLibrary() {}

    /**
     * Loads the first of some libraries that is there, unless its functions are there already.
     *
     * @param doNothing calls a native function that does nothing, which shows whether the functions are there
     * @param what the library's name for people
     * @param names the names of libraries, without "lib" and ".so"
     * @throws UnsatisfiedLinkError if none could be loaded or lacks the function, with what was tried
     */
    public static synchronized void load(Runnable doNothing, String what, String... names) {
        try {
            doNothing.run();
            return; // the program has loaded a library of its own
        } catch (UnsatisfiedLinkError notYet) {
            // goes on below
        }
        UnsatisfiedLinkError failure = null;
        for (String name : names) {
            try {
                loadNamed(name);
                doNothing.run();
                return;
            } catch (UnsatisfiedLinkError error) {
                if (failure == null) {
                    failure = error;
                } else {
                    failure.addSuppressed(error);
                }
            }
        }
        UnsatisfiedLinkError error = new UnsatisfiedLinkError(
                "Failed to load native " + what + " methods. Check that the correct native libraries are present, and,"
                        + " if using a custom native library, have been properly loaded via System.loadLibrary():\n  "
                        + failure);
        error.initCause(failure);
        throw error;
    }

    /**
     * Loads a delegate's library, whose functions are found by name and not by Java.
     *
     * @param name the library's name, without "lib" and ".so"
     * @return the file name under which it can be opened now
     * @throws UnsatisfiedLinkError if it is not there
     */
    public static synchronized String loadPlugin(String name) {
        loadNamed(name);
        return System.mapLibraryName(name); // a library that is open is found by its own name
    }

    private static void loadNamed(String name) {
        String file = System.mapLibraryName(name);
        String folder = System.getProperty(FOLDER);
        if (folder != null && new File(folder, file).exists()) {
            System.load(new File(folder, file).getAbsolutePath());
            return;
        }
        try {
            System.loadLibrary(name);
        } catch (UnsatisfiedLinkError notInPath) {
            Path unpacked = unpack(file);
            if (unpacked == null) throw notInPath;
            try {
                System.load(unpacked.toString());
            } finally {
                unpacked.toFile().delete(); // it stays mapped
            }
        }
    }

    /** Writes the resource that holds a library for this machine into a new file; null where there is none. */
    private static Path unpack(String file) {
        String resource = "native/" + platform() + "/" + file; // beside this class
        try (InputStream in = NativeLibrary.class.getResourceAsStream(resource)) {
            if (in == null) return null;
            Path path = Files.createTempFile("tensorflowlite", file); // only this user can write it
            Files.copy(in, path, StandardCopyOption.REPLACE_EXISTING);
            return path;
        } catch (IOException failure) {
            throw new UnsatisfiedLinkError("cannot unpack " + resource + ": " + failure);
        }
    }

    /** The folder of resources for this machine: "linux-x86_64", "linux-aarch64". */
    static String platform() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
        if (machine.equals("amd64") || machine.equals("x64")) machine = "x86_64";
        if (machine.equals("arm64")) machine = "aarch64";
        return (system.startsWith("mac") ? "macos" : system.startsWith("windows") ? "windows" : system) + "-" + machine;
    }
}

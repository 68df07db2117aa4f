// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Puts the native libraries of a jar where the dynamic linker can read them. The folder is named by user and by what the files hold, so that every
 * process of a version shares one and a thousand starts leave no more than one does; nobody else can write to it.
 */
public final class Extraction {
  private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

  /** What to do about a file system that nothing is run from. */
  public static final String NOEXEC =
      "the file system is mounted noexec; -Droutecap.tmpdir=FOLDER names another folder to extract to, -Droutecap.library=FILE an installed library";

  /** The files of a jar: the JNI library finds the other beside itself. */
  private static final String[] FILES = {"libroutecap.so.0", "libroutecapjni.so"};

  /** Belongs to whoever this process runs as. */
  private static final Path SELF = Path.of("/proc/self");

  private Extraction() {}

  /** The folder with the jar's files, which are written unless they are there. */
  public static Path extract(NativeFiles jar) throws IOException {
    Map<String, byte[]> files = new LinkedHashMap<>();
    MessageDigest digest = sha256();
    for (String name : FILES) {
      try (InputStream input = jar.open(name)) {
        if (input == null) {
          throw new IOException("it holds no " + name);
        }
        byte[] bytes = input.readAllBytes();
        files.put(name, bytes);
        digest.update(bytes);
      }
    }
    Path folder = owned(folder(hex(digest.digest())));
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      place(folder, file.getKey(), file.getValue());
    }
    return folder;
  }

  private static Path folder(String hash) {
    Path parent = Path.of(System.getProperty("routecap.tmpdir", System.getProperty("java.io.tmpdir"))).toAbsolutePath();
    return parent.resolve("routecap-" + System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9_.-]", "_") + "-" + hash);
  }

  private static Path owned(Path folder) throws IOException {
    Files.createDirectories(folder.getParent());
    try {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    } catch (FileAlreadyExistsException there) {
      // Whoever made it, only this user may have, and only this user may write to it: a folder of somebody else's is not loaded from.
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
          || !Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS).equals(OWNER_ONLY)
          || !Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(SELF))) {
        throw new IOException(folder + " is there and is not a folder of this user alone (mode 0700)", there);
      }
    }
    return folder;
  }

  private static void place(Path folder, String name, byte[] bytes) throws IOException {
    Path file = folder.resolve(name);
    if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && Files.size(file) == bytes.length && Arrays.equals(Files.readAllBytes(file), bytes)) {
      return;
    }
    sweep(folder, name);
    // Complete or not at all, and a process that has the old one mapped keeps it.
    Path fresh = folder.resolve(name + "." + UUID.randomUUID());
    try {
      Files.write(fresh, bytes);
      Files.setPosixFilePermissions(fresh, OWNER_ONLY);
      try {
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING);
      }
    } finally {
      Files.deleteIfExists(fresh);
    }
  }

  /** Removes what processes left that were killed while they wrote. Those that write now are younger than an hour. */
  private static void sweep(Path folder, String name) throws IOException {
    FileTime old = FileTime.from(Instant.now().minus(Duration.ofHours(1)));
    try (DirectoryStream<Path> begun = Files.newDirectoryStream(folder, name + ".????????-????-????-????-????????????")) {
      for (Path file : begun) {
        if (Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).compareTo(old) < 0) {
          Files.deleteIfExists(file);
        }
      }
    } catch (NoSuchFileException gone) {
      // Another process was faster.
    }
  }

  /** Whether nothing can be run from a folder's file system. */
  public static boolean isNoexec(Path folder) {
    try {
      FileStore store = Files.getFileStore(folder);
      String best = "";
      boolean noexec = false;
      for (String line : Files.readAllLines(Path.of("/proc/self/mounts"))) {
        String[] fields = line.split(" ");
        if (fields.length > 3 && folder.startsWith(fields[1]) && fields[1].length() >= best.length()) {
          best = fields[1];
          noexec = Arrays.asList(fields[3].split(",")).contains("noexec");
        }
      }
      return noexec && store != null;
    } catch (IOException e) {
      return false;
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String hex(byte[] digest) {
    StringBuilder text = new StringBuilder();
    for (int index = 0; index < 16; index++) {
      text.append(String.format("%02x", digest[index]));
    }
    return text.toString();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs a class of the tests as a user without privileges, who owns nothing. Only root can, and only
 * where there is {@code setpriv}, as on Linux.
 */
public final class OtherUser {
  /** Its name, and its number on every system that has it. */
  public static final String NAME = "nobody";

  private static final String NUMBER = "65534";
  private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

  private final List<String> classPath = new ArrayList<>();

  /**
   * A user.
   *
   * @param directory empty, for copies of classes that it may not read where they are
   */
  public OtherUser(Path directory) throws IOException {
    for (String entry :
        System.getProperty("java.class.path").split(File.pathSeparator, /* limit= */ -1)) {
      Path copy = directory.resolve(String.valueOf(classPath.size()));
      Path source = Path.of(entry);
      if (Files.isDirectory(source)) {
        copyTree(source, copy);
      } else if (Files.exists(source)) {
        linkOrCopy(source, copy);
      }
      classPath.add(copy.toString());
    }
    letEnter(directory);
  }

  /** Lets it read a temporary directory. */
  public void letEnter(Path directory) throws IOException {
    for (Path path = directory; path.startsWith(temporary()); path = path.getParent()) {
      if (!path.equals(temporary())) {
        readable(path, "rwxr-xr-x");
      }
    }
  }

  /** All of them are hundreds of megabytes. */
  private static void linkOrCopy(Path source, Path target) throws IOException {
    boolean isReadable =
        Files.getPosixFilePermissions(source).contains(PosixFilePermission.OTHERS_READ);
    if (isReadable && Files.getFileStore(source).equals(Files.getFileStore(target.getParent()))) {
      Files.createLink(target, source);
    } else {
      Files.copy(source, target);
      readable(target, "rw-r--r--");
    }
  }

  /** Whether this process may run something as another user. */
  public static boolean isAvailable() {
    return System.getProperty("user.name").equals("root") && Files.isExecutable(SETPRIV);
  }

  /** What the main method of a class prints, and its exit code as "exit code n" at the end. */
  public String run(Class<?> main, String... args) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                SETPRIV.toString(),
                "--reuid=" + NUMBER,
                "--regid=" + NUMBER,
                "--clear-groups",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                String.join(File.pathSeparator, classPath),
                main.getName()));
    command.addAll(List.of(args));
    Process process =
        new ProcessBuilder(command)
            .directory(temporary().toFile())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(1, TimeUnit.MINUTES)) {
      process.destroyForcibly();
    }
    return printed + "\nexit code " + process.exitValue();
  }

  private static Path temporary() {
    return Path.of(System.getProperty("java.io.tmpdir"));
  }

  private static void copyTree(Path source, Path target) throws IOException {
    try (Stream<Path> all = Files.walk(source)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Path copy = target.resolve(source.relativize(path).toString());
        Files.copy(path, copy);
        readable(copy, Files.isDirectory(path) ? "rwxr-xr-x" : "rw-r--r--");
      }
    }
  }

  private static void readable(Path path, String permission) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permission));
  }
}

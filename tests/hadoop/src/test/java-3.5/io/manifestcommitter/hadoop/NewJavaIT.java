// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.progress.CommitProgress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;

/**
 * On a Java whose threads inherit no user (24 and newer), where one is installed. No Hadoop before
 * 3.5 runs on it.
 */
class NewJavaIT {
  private static final Path INSTALLED = Paths.get("/usr/lib/jvm");

  @Test
  void threadsWorkForTheProxyUser() throws Exception {
    Optional<Path> java = newJava();
    assumeThat(java).as("Java 24 or newer below " + INSTALLED).isPresent();

    Process process =
        new ProcessBuilder(
                java.get().toString(),
                "-cp",
                System.getProperty("java.class.path"),
                ProxyUserMain.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String told =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();

    assertThat(process.waitFor()).isZero();
    assertThat(told).endsWith("threads of [alice]");
  }

  private static Optional<Path> newJava() throws IOException {
    if (!Files.isDirectory(INSTALLED)) {
      return Optional.empty();
    }
    try (Stream<Path> all = Files.list(INSTALLED)) {
      return all.filter(NewJavaIT::isNew).map(home -> home.resolve("bin/java")).findFirst();
    }
  }

  private static boolean isNew(Path home) {
    try {
      return Files.readAllLines(home.resolve("release")).stream()
          .anyMatch(line -> line.matches("JAVA_VERSION=\"(2[4-9]|[3-9][0-9]).*"));
    } catch (IOException e) {
      return false;
    }
  }

  /** Prints on whose behalf the committer's threads work for the proxy user alice. */
  static final class ProxyUserMain {
    private ProxyUserMain() {}

    public static void main(String[] args) throws Exception {
      UserGroupInformation alice =
          UserGroupInformation.createProxyUser("alice", UserGroupInformation.getLoginUser());
      Set<String> seen = new TreeSet<>();
      alice.doAs(
          (PrivilegedExceptionAction<Void>)
              () -> {
                Workers workers =
                    new Workers(2, () -> {}, Audit.job("job"), CommitProgress.unwatched());
                seen.addAll(workers.map(List.of(1, 2, 3), item -> user()));
                workers.shield(() -> seen.addAll(workers.map(List.of(1, 2, 3), item -> user())));
                return null;
              });
      System.out.println("threads of " + seen);
    }

    private static String user() throws IOException {
      return UserGroupInformation.getCurrentUser().getShortUserName();
    }
  }
}

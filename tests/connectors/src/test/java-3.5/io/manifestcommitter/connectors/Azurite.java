// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Microsoft's emulator of flat storage accounts: a process, started on a port that it picks. */
final class Azurite implements AutoCloseable {
  static final String ACCOUNT = "devstoreaccount1.dfs.core.windows.net";

  /** The key of Azurite's one account, which is published with it. */
  static final String KEY =
      "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

  private static final String VERSION = "3.35.0";
  private static final Pattern LISTENS =
      Pattern.compile("successfully listens on http://127\\.0\\.0\\.1:(\\d+)");
  private static final int INSTALL_MINUTES = 5;

  private final Process process;
  private final int port;

  private Azurite(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Whether npm can be run. */
  static boolean canBeInstalled() throws InterruptedException {
    try {
      return new ProcessBuilder("npm", "--version")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Installs it into {@code directory}, unless it is there, and starts it with nothing stored.
   *
   * @throws IOException with its output, where it cannot be installed or does not start
   */
  static Azurite start(Path directory) throws IOException, InterruptedException {
    install(directory);
    Process process =
        new ProcessBuilder(
                "node",
                directory.resolve("node_modules/.bin/azurite-blob").toString(),
                "--blobHost",
                "127.0.0.1",
                "--blobPort",
                "0",
                "--inMemoryPersistence",
                "--disableTelemetry",
                "--skipApiVersionCheck",
                "--silent")
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .start();
    try {
      return new Azurite(process, port(process.getInputStream()));
    } catch (IOException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  private static void install(Path directory) throws IOException, InterruptedException {
    if (Files.exists(directory.resolve("installed-" + VERSION))) {
      return;
    }
    Files.createDirectories(directory);
    File log = directory.resolve("npm.log").toFile();
    Process npm =
        new ProcessBuilder(
                "npm",
                "install",
                "--prefix",
                directory.toString(),
                "azurite@" + VERSION,
                "--no-audit",
                "--no-fund")
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log)
            .start();
    if (!npm.waitFor(INSTALL_MINUTES, TimeUnit.MINUTES) || npm.exitValue() != 0) {
      npm.destroyForcibly();
      throw new IOException("npm did not install Azurite: " + Files.readString(log.toPath()));
    }
    Files.createFile(directory.resolve("installed-" + VERSION));
  }

  /** Reads up to the line that names the port. The process says nothing after it. */
  private static int port(InputStream output) throws IOException {
    List<String> lines = new ArrayList<>();
    BufferedReader reader =
        new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8));
    String line = reader.readLine();
    while (line != null) {
      lines.add(line);
      Matcher matcher = LISTENS.matcher(line);
      if (matcher.find()) {
        return Integer.parseInt(matcher.group(1));
      }
      line = reader.readLine();
    }
    throw new IOException("Azurite did not start: " + lines);
  }

  String endpoint() {
    return "127.0.0.1:" + port;
  }

  @Override
  public void close() {
    process.destroy();
  }
}

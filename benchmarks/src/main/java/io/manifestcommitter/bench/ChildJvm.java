// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** Runs a main class in a JVM of its own, with this JVM's class path. */
final class ChildJvm {
  private final List<String> options = new ArrayList<>();

  /** A JVM with these options. */
  ChildJvm(String... options) {
    this.options.addAll(Arrays.asList(options));
    this.options.add("-XX:+ExitOnOutOfMemoryError");
    this.options.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    // There is no native code in the jars, and nothing here would use it.
    this.options.add("-Dorg.slf4j.simpleLogger.log.org.apache.hadoop.util.NativeCodeLoader=error");
    // Which address of the machine it would use; it uses none.
    this.options.add("-Dorg.slf4j.simpleLogger.log.org.apache.spark.util.Utils=error");
  }

  /**
   * Runs the class and waits for its end. What it writes as an error is shown.
   *
   * @param output gets the lines it prints, as it prints them
   * @throws IOException if it ended with another exit code than 0
   */
  void run(Class<?> main, Consumer<String> output, String... args) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(Arrays.asList(args));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      try (BufferedReader out =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
          output.accept(line);
        }
      }
      int code = process.waitFor();
      if (code != 0) {
        throw new IOException(
            main.getSimpleName()
                + " ended with exit code "
                + code
                + "; what it printed above says why (3: the heap was too small)");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while " + main.getSimpleName() + " ran", e);
    } finally {
      process.destroyForcibly();
    }
  }
}

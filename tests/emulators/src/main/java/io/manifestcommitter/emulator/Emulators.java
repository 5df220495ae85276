// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.util.Map;
import java.util.TreeMap;

/**
 * Serves all stores until it is interrupted, and prints what leads Spark to them: lines of a
 * spark-defaults.conf, with comments that give the URIs to use and how to steer the emulators, and
 * last {@code # ready}.
 *
 * <pre>
 * Emulators [--abfs-port=N] [--gcs-port=N] [--s3-port=N] [--lakefs-port=N]
 *     [--forget-tokens] [--until-stdin-ends]
 * </pre>
 *
 * <p>Ports that are 0, empty or not given are picked. With {@code --until-stdin-ends} it also ends
 * with its standard input, so that it never outlives the process that started it. With {@code
 * --forget-tokens} a request that is sent again is a new one, and so is a completion on S3.
 */
public final class Emulators {
  private static final int WRONG_USAGE = 2;

  private Emulators() {}

  /** Exit code: 1 where it cannot start, 2 for wrong usage. */
  public static void main(String[] arguments) throws InterruptedException, IOException {
    int abfsPort = 0;
    int gcsPort = 0;
    int s3Port = 0;
    int lakefsPort = 0;
    boolean untilStdinEnds = false;
    boolean forgetTokens = false;
    try {
      for (String argument : arguments) {
        if (argument.startsWith("--abfs-port=")) {
          abfsPort = port(argument);
        } else if (argument.startsWith("--gcs-port=")) {
          gcsPort = port(argument);
        } else if (argument.startsWith("--s3-port=")) {
          s3Port = port(argument);
        } else if (argument.startsWith("--lakefs-port=")) {
          lakefsPort = port(argument);
        } else if (argument.equals("--until-stdin-ends")) {
          untilStdinEnds = true;
        } else if (argument.equals("--forget-tokens")) {
          forgetTokens = true;
        } else {
          throw new IllegalArgumentException("Unknown argument: " + argument);
        }
      }
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.println(
          "Usage: Emulators [--abfs-port=N] [--gcs-port=N] [--s3-port=N] [--lakefs-port=N]"
              + " [--forget-tokens] [--until-stdin-ends]");
      System.exit(WRONG_USAGE);
    }
    serve(abfsPort, gcsPort, s3Port, lakefsPort, forgetTokens);
    if (untilStdinEnds) {
      System.in.transferTo(OutputStream.nullOutputStream());
      System.exit(0);
    }
    Thread.currentThread().join();
  }

  private static int port(String argument) {
    String value = argument.substring(argument.indexOf('=') + 1);
    if (value.isEmpty()) {
      return 0;
    }
    if (!value.matches("\\d{1,5}") || Integer.parseInt(value) > 65535) {
      throw new IllegalArgumentException("Not a port: " + argument);
    }
    return Integer.parseInt(value);
  }

  private static void serve(
      int abfsPort, int gcsPort, int s3Port, int lakefsPort, boolean forgetTokens) {
    try {
      AbfsEmulator abfs = AbfsEmulator.start(abfsPort);
      atExit(abfs::close);
      GcsEmulator gcs = GcsEmulator.start(gcsPort);
      atExit(gcs::close);
      S3Emulator s3 = S3Emulator.start(s3Port);
      atExit(s3::close);
      LakefsEmulator lakefs = LakefsEmulator.start(lakefsPort, s3);
      atExit(lakefs::close);
      if (forgetTokens) {
        gcs.forgetTokens();
        s3.forgetCompletions();
      }
      ControlEndpoint control =
          ControlEndpoint.open(Map.of("abfs", abfs, "gcs", gcs, "s3", s3, "lakefs", lakefs));
      atExit(control::close);
      print(abfs, gcs, s3, lakefs, control.port());
    } catch (IOException e) {
      System.err.println(e.getMessage() + ": " + e.getCause());
      System.err.println("If the port is taken, choose another, or none to have one picked.");
      System.exit(1);
    }
  }

  private static void atExit(Runnable close) {
    Runtime.getRuntime().addShutdownHook(new Thread(close));
  }

  private static void print(
      AbfsEmulator abfs, GcsEmulator gcs, S3Emulator s3, LakefsEmulator lakefs, int controlPort) {
    PrintStream out = System.out;
    out.println(
        "# ADLS Gen2, Google Cloud Storage, S3 and lakeFS in memory: nothing is kept or safe.");
    uri(out, "abfs", abfs.root());
    uri(out, "abfss", abfs.secureRoot());
    uri(out, "gs", gcs.root());
    uri(out, "folders", gcs.hierarchicalRoot());
    uri(out, "s3a", s3.root());
    uri(out, "lakefs", lakefs.root());
    uri(out, "control", URI.create("http://127.0.0.1:" + controlPort + "/"));
    Map<String, String> settings = new TreeMap<>(abfs.settings());
    settings.putAll(gcs.settings());
    settings.putAll(s3.settings());
    settings.putAll(lakefs.settings());
    settings.forEach((key, value) -> out.println("spark.hadoop." + key + "  " + value));
    StringBuilder trust = new StringBuilder();
    new TreeMap<>(abfs.trustStore().systemProperties())
        .forEach((key, value) -> trust.append(" -D").append(key).append('=').append(value));
    out.println(
        "# For abfss only. A driver that runs in an existing JVM needs it at that one's start.");
    out.println("spark.driver.extraJavaOptions " + trust);
    out.println("spark.executor.extraJavaOptions " + trust);
    out.println("# ready");
    out.flush();
  }

  private static void uri(PrintStream out, String name, URI uri) {
    out.println("# " + name + " " + uri);
  }
}

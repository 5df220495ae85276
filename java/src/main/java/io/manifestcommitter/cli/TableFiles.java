// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.read.WholeReader;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** Lists the files of a table as it was before or after the commit of each job. */
public final class TableFiles extends Program {
  /** What Hive and Spark name the partition of a value that is not there. */
  private static final String NO_VALUE = "__HIVE_DEFAULT_PARTITION__";

  private static final int HEX = 16;

  TableFiles(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: TableFiles [--json] [--missing-ok] [--properties-file file] [-D key=value]...",
        "                  <table>...",
        "",
        "Prints the files of a table as it was before or after the commit of each job: size in bytes",
        "and path, which may lead into the directory of a job that has moved the file aside.",
        "",
        "  --json                  a line of JSON for each file",
        MISSING,
        SETTINGS,
        "Exit code: 0 done; 1 the table could not be read as a whole; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, TableFiles::new);
  }

  @Override
  protected Action action(CommandLine line) {
    return table -> {
      for (Json.Fields file : find(line.conf(), table)) {
        out.println(
            line.has("--json")
                ? Json.line(file)
                : file.get("size") + "  " + Humane.line(String.valueOf(file.get("path"))));
      }
      return OK;
    };
  }

  /**
   * As the program does it, for a running Spark session.
   *
   * @param conf Hadoop's configuration of the session
   * @return an array with an object for each file: {@code path}, {@code size} in bytes, and {@code
   *     partition}, an object with a text, or null, for each column
   * @throws NothingThereException if there is no table
   */
  public static String ofSession(Configuration conf, String table) throws IOException {
    return Json.line(find(conf, table));
  }

  private static List<Json.Fields> find(Configuration conf, String path) throws IOException {
    WholeReader reader = WholeReader.of(conf, new Path(path), Optional.empty());
    List<Json.Fields> found = new ArrayList<>();
    new TreeMap<>(NothingThereException.unlessMissing(reader.table(), reader::files))
        .forEach(
            (place, file) ->
                found.add(
                    new Json.Fields()
                        .with("path", file.path().toString())
                        .with("size", file.length())
                        .with("partition", partition(StorePaths.relative(reader.table(), place)))));
    return found;
  }

  /** The values in the names of directories, as text. */
  static Map<String, String> partition(String relative) {
    Map<String, String> values = new LinkedHashMap<>();
    String[] names = relative.split("/", -1);
    for (int i = 0; i < names.length - 1; i++) {
      int equals = names[i].indexOf('=');
      if (equals > 0) {
        String value = unescaped(names[i].substring(equals + 1));
        values.put(unescaped(names[i].substring(0, equals)), value.equals(NO_VALUE) ? null : value);
      }
    }
    return values;
  }

  /** As Spark and Hive write a character that a path cannot hold: its number in two digits. */
  private static String unescaped(String name) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < name.length(); i++) {
      boolean isEscape = name.charAt(i) == '%' && i + 2 < name.length();
      int high = isEscape ? Character.digit(name.charAt(i + 1), HEX) : -1;
      int low = isEscape ? Character.digit(name.charAt(i + 2), HEX) : -1;
      if (high >= 0 && low >= 0) {
        text.append((char) (high * HEX + low));
        i += 2;
      } else {
        text.append(name.charAt(i));
      }
    }
    return text.toString();
  }
}

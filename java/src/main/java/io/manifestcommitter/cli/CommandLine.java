// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.config.CommitterConfig;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;

/**
 * The command line that the programs have in common: {@code [--json] [--properties-file file] [-D
 * key=value]... [--] path...}.
 *
 * <p>Settings are those of Hadoop. Spark's are taken, too: {@code spark.hadoop.x} sets {@code x} as
 * in a job, and what else begins with {@code spark.} is kept for whoever asks. They come, the later
 * before the earlier, from the properties file, from the system properties (where spark-submit puts
 * them) and from {@code -D}.
 */
public final class CommandLine {
  private static final String SPARK = "spark.";
  private static final String SPARK_HADOOP = "spark.hadoop.";

  /** Hadoop's configuration, with all settings. */
  public final Configuration conf = new Configuration();

  /** Spark's settings, without those for Hadoop. */
  public final Map<String, Setting> spark = new TreeMap<>();

  final List<String> paths = new ArrayList<>();

  /** Whether only {@code --help} is asked for. */
  boolean help;

  private final Set<String> keys = new HashSet<>();
  private final Set<String> flags = new HashSet<>();
  private final Map<String, String> values = new TreeMap<>();

  private CommandLine() {}

  /**
   * Takes a program's arguments.
   *
   * @param flags the program's own options that take no value, such as {@code --force}
   * @param named those that take one
   * @throws UsageException if they are wrong; the message says how
   */
  public static CommandLine parse(Set<String> flags, Set<String> named, String... args)
      throws UsageException {
    CommandLine line = new CommandLine();
    List<String> own = new ArrayList<>();
    boolean options = true;
    for (int i = 0; i < args.length; i++) {
      String arg = args[i];
      if (!options || !arg.startsWith("-")) {
        line.paths.add(arg);
      } else if (arg.equals("--")) {
        options = false;
      } else if (arg.equals("--help") || arg.equals("-h")) {
        line.help = true;
        return line;
      } else if (flags.contains(arg)) {
        line.flags.add(arg);
      } else if (named.contains(arg)) {
        i++;
        line.values.put(arg, i < args.length ? args[i] : "");
      } else if (arg.equals("--properties-file")) {
        i++;
        line.readProperties(i < args.length ? args[i] : "");
      } else if (arg.startsWith("-D")) {
        boolean apart = arg.length() == 2;
        i += apart ? 1 : 0;
        own.add(apart ? (i < args.length ? args[i] : "") : arg.substring(2));
      } else {
        throw new UsageException("there is no option " + Humane.line(arg));
      }
    }
    line.takeSparks(System.getProperties(), "spark-submit");
    for (String setting : own) {
      int equals = setting.indexOf('=');
      if (equals < 1) {
        throw new UsageException("-D needs key=value");
      }
      line.set(setting.substring(0, equals), setting.substring(equals + 1), "the command line");
    }
    if (line.paths.isEmpty() || line.paths.contains("")) {
      throw new UsageException(line.paths.isEmpty() ? "a path is missing" : "a path is empty");
    }
    return line;
  }

  /**
   * The committer's own settings.
   *
   * @throws UsageException if one of them is wrong
   */
  CommitterConfig config() throws UsageException {
    return checked(() -> new CommitterConfig(conf));
  }

  /**
   * What an argument says.
   *
   * @throws UsageException if reading it fails with an {@link IllegalArgumentException}
   */
  static <T> T checked(Supplier<T> reading) throws UsageException {
    try {
      return reading.get();
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage());
    }
  }

  /** Whether a key of Hadoop was set, rather than read from Hadoop's own files. */
  public boolean sets(String hadoopKey) {
    return keys.contains(hadoopKey);
  }

  /** Whether spark-submit runs the program, so that what is not set has Spark's default. */
  public boolean submitted() {
    return System.getProperty("spark.master") != null;
  }

  /** Whether an option of the program's own was given. */
  public boolean has(String flag) {
    return flags.contains(flag);
  }

  /** The value of an option of the program's own, if it was given. */
  public Optional<String> value(String option) {
    return Optional.ofNullable(values.get(option));
  }

  private void takeSparks(Properties properties, String source) {
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith(SPARK)) {
        set(name, properties.getProperty(name), source);
      }
    }
  }

  /** Reads the file as Spark does, so as UTF-8 and without spaces around values. */
  private void readProperties(String file) throws UsageException {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(Paths.get(file), StandardCharsets.UTF_8)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new UsageException(
          "--properties-file needs a readable file of settings, not '"
              + Humane.line(file)
              + "' ("
              + e
              + ")");
    }
    properties.replaceAll((name, value) -> value.toString().trim());
    takeSparks(properties, file);
  }

  private void set(String key, String value, String source) {
    if (key.startsWith(SPARK) && !key.startsWith(SPARK_HADOOP)) {
      spark.put(key, new Setting(value, source));
      return;
    }
    boolean prefixed = key.startsWith(SPARK_HADOOP);
    String hadoopKey = prefixed ? key.substring(SPARK_HADOOP.length()) : key;
    keys.add(hadoopKey);
    conf.set(hadoopKey, value, prefixed ? key + ", " + source : source);
  }

  /** The value of a setting, and where it was set. */
  public static final class Setting {
    /** What it is set to. */
    public final String value;

    /** What set it, in words for users. */
    public final String source;

    /** A value. */
    public Setting(String value, String source) {
      this.value = Objects.requireNonNull(value);
      this.source = Objects.requireNonNull(source);
    }

    @Override
    public String toString() {
      return value + " (" + source + ")";
    }
  }

  /** The arguments are wrong. */
  public static final class UsageException extends Exception {
    private static final long serialVersionUID = 1L;

    UsageException(String message) {
      super(message);
    }
  }
}

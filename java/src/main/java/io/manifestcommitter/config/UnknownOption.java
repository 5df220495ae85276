// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.config;

import static java.util.stream.Collectors.toMap;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.commons.text.similarity.LevenshteinDistance;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A key that is set for this committer in vain: mistyped, without its prefix, or too late. A job is
 * refused for it at its setup. Site files serve jars of several versions, so there it is a warning.
 */
public final class UnknownOption {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownOption.class);
  private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

  private static final String SPARK_HADOOP = "spark.hadoop.";

  /** How the source begins that Spark gives to the settings it started with. */
  private static final String BY_SPARK = "Set by Spark from keys starting with";

  private static final Pattern OURS =
      Pattern.compile("(mapreduce\\.manifest|manifest\\.committer)\\..*");

  /** What early versions of Hadoop's committer had, and later ones do not. */
  private static final Pattern EARLY =
      Pattern.compile(
          ".*committer\\.(io\\.(read\\.rate|write\\.rate|thread\\.count)"
              + "|cleanup\\.(move\\.to\\.trash|parallel\\.delete\\.attempt\\.directories))");

  /** The whole keys by their last parts. */
  private static final Map<String, String> KEYS =
      CommitterConfig.options().stream()
          .map(option -> option.key)
          .collect(toMap(UnknownOption::lastPart, key -> key));

  /** The key as it is set. */
  public final String key;

  /** The option that was meant, if one is near. */
  public final Optional<String> meant;

  /** Whether jobs are refused for it. */
  public final boolean refused;

  private final String text;

  private UnknownOption(String key, Optional<String> meant, boolean refused, String text) {
    this.key = key;
    this.meant = meant;
    this.refused = refused;
    this.text = text;
  }

  /**
   * Refuses a job for keys that it sets in vain, and warns once of those in site files.
   *
   * @throws IllegalArgumentException that names the keys, where they were set, and what was meant
   */
  public static void refuse(Configuration conf) {
    List<String> refused = new ArrayList<>();
    for (UnknownOption one : in(conf)) {
      if (one.refused) {
        refused.add(one.text);
      } else if (WARNED.add(one.key)) {
        LOG.warn("{}", one);
      }
    }
    if (!refused.isEmpty()) {
      throw new IllegalArgumentException(
          String.join(". ", refused) + ". The job was refused, and changed nothing.");
    }
  }

  /** All such keys of a configuration, in their order. */
  public static List<UnknownOption> in(Configuration conf) {
    List<UnknownOption> found = new ArrayList<>();
    conf.forEach(entry -> look(conf, entry.getKey()).ifPresent(found::add));
    found.sort(Comparator.comparing(one -> one.key));
    return found;
  }

  private static Optional<UnknownOption> look(Configuration conf, String key) {
    boolean isSparks = key.startsWith(SPARK_HADOOP);
    String name = isSparks ? key.substring(SPARK_HADOOP.length()) : key;
    String source = source(conf, key);
    if (source.endsWith("-default.xml") || (isSparks && !isLate(conf, key, name))) {
      return Optional.empty();
    }
    String lower = name.toLowerCase(Locale.ROOT);
    boolean isOurs = OURS.matcher(lower).matches();
    boolean isSite = source.endsWith(".xml");
    boolean isEarly = isOurs && EARLY.matcher(lower).matches();
    String whole = KEYS.containsValue(name) ? name : KEYS.get(lower);
    Optional<String> near = Optional.ofNullable(whole);
    String advice;
    if (name.equals(whole)) {
      advice = "Spark reads spark.hadoop. settings when it starts. Set " + name + " instead";
    } else if (whole != null) {
      advice = "write " + whole + ". If another library reads the short name, set both";
    } else if (isEarly) {
      advice = "only early versions of Hadoop's committer have this option";
    } else {
      // Of the many keys of a site's files only ours are compared with all options.
      boolean mayBeOurs = isOurs || (!isSite && lower.startsWith("m"));
      near = mayBeOurs ? nearest(lower, isOurs) : Optional.empty();
      advice =
          near.map(one -> "did you mean " + one + "? ").orElse("there is no such option. ")
              + "All options are in docs/using/options.md";
    }
    boolean isVain =
        name.equals(whole)
            ? isSparks
            : isOurs || (!isSite && (whole == null ? near.isPresent() : conf.get(whole) == null));
    String text = key + " (" + where(source, name) + ") has no effect: " + advice;
    return Optional.of(new UnknownOption(key, near, !isSite && !isEarly, text))
        .filter(unknown -> isVain);
  }

  /** Whether Spark did not hand it to Hadoop when it started. */
  private static boolean isLate(Configuration conf, String key, String name) {
    String known = conf.getRaw(name);
    return known == null
        || (!known.equals(conf.getRaw(key)) && source(conf, name).startsWith(BY_SPARK));
  }

  /** Where it was set first: a job's file, which is read later, keeps what it was written from. */
  private static String source(Configuration conf, String key) {
    String[] sources = conf.getPropertySources(key);
    return sources == null || sources.length == 0 ? "an unknown source" : sources[0];
  }

  private static String where(String source, String name) {
    if (source.startsWith(BY_SPARK)) {
      return "set as " + SPARK_HADOOP + name + " where Spark started";
    }
    return source.equals("programmatically")
        ? "set in the program: as an option of the write, in the session or in Hadoop's settings"
        : "set by " + source.replaceFirst("^from ", "");
  }

  private static String lastPart(String key) {
    return key.replaceFirst(".*committer\\.", "");
  }

  /** The option that was probably meant; of a key without our prefix only with a slip or two. */
  private static Optional<String> nearest(String typed, boolean isOurs) {
    String name = letters(typed.replaceFirst("^manifest", "mapreduce.manifest"));
    return KEYS.values().stream()
        .filter(
            key -> distance(name, key) <= (isOurs ? Math.max(2, lastPart(key).length() / 3) : 2))
        .min(Comparator.comparing(key -> distance(name, key)));
  }

  private static int distance(String name, String key) {
    return LevenshteinDistance.getDefaultInstance().apply(name, letters(key));
  }

  private static String letters(String key) {
    return key.replaceAll("[^a-z0-9]", "");
  }

  /** What is wrong, where it was set, and what to do; without a full stop at its end. */
  @Override
  public String toString() {
    return text;
  }
}

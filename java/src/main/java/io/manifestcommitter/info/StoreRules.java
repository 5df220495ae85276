// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import static io.manifestcommitter.info.FactoryBinding.setting;
import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.cli.CommandLine.Setting;
import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.store.GcsStore;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * What is wrong with the settings of the connector that serves a path. Told from the configuration
 * and the class path; of a connector that is not there nothing is said.
 */
final class StoreRules extends Rules {
  private static final String GS_IMPL = "fs.gs.impl";
  private static final String GS_MOVE = "fs.gs.operation.move.enable";
  private static final String OPEN_OPTIONS = "org/apache/hadoop/fs/Options$OpenFileOptions";

  private static final String S3_UPLOADS = "fs.s3a.multipart.uploads.enabled";
  private static final String S3_MAGIC = "fs.s3a.committer.magic.enabled";

  /** The driver's own limit on renames in job commit; the committer leaves it alone. */
  private static final String ABFS_RATE_LIMIT = "fs.azure.io.rate.limit";

  private final Configuration conf;
  private final Path path;
  private final String version;

  /**
   * Of the connector that serves a path.
   *
   * @param version of Hadoop, with which hadoop-azure and hadoop-aws come
   */
  StoreRules(Configuration conf, Path path, String version) {
    this.conf = conf;
    this.path = path;
    this.version = version;
  }

  @Override
  protected void check() {
    Setting bound = fileSystem(conf, path).orElse(new Setting("", ""));
    String connector = bound.value;
    if (!ClassNames.loads(conf.getClassLoader(), connector)) {
      return;
    }
    if (!new Stores(conf).isLakefs(path)) {
      Problem.TABLE.forEach((name, rule) -> checkSettings(connector, name, rule));
    }
    if (connector.equals(ClassNames.GOOGLES_GS)) {
      checkGoogles();
    } else if (connector.equals(ClassNames.HADOOPS_GS)) {
      checkHadoopsGs(bound);
    }
  }

  /**
   * A rule of the table about settings. It names what the connector's class begins with, and which
   * versions of Hadoop it is about. Of each key it tells the connector's default, which values are
   * wrong, and what to set. A key that tells nothing to set is a condition: unless its value is one
   * of those, nothing is wrong.
   */
  private void checkSettings(String connector, String name, JsonNode rule) {
    if (!rule.has("connector")
        || !connector.startsWith(rule.get("connector").asText())
        || !version.matches(rule.path("hadoop").asText(".*"))) {
      return;
    }
    Repair repair = Repair.none();
    Iterator<Map.Entry<String, JsonNode>> settings = rule.get("settings").fields();
    while (settings.hasNext()) {
      Map.Entry<String, JsonNode> setting = settings.next();
      String key = bucketKey(setting.getKey());
      JsonNode is = setting.getValue();
      boolean isWrong =
          conf.getTrimmed(key, is.get("default").asText()).matches(is.get("wrong").asText());
      if (isWrong && is.has("set")) {
        repair = repair.andSet(key, is.get("set").asText());
      } else if (!isWrong && !is.has("set")) {
        return;
      }
    }
    Set<String> keys = repair.settings.keySet();
    if (!keys.isEmpty()) {
      String values = keys.stream().map(this::shown).collect(joining(" and "));
      add(name, repair, String.join(" and ", keys), version, values);
    }
  }

  private void checkHadoopsGs(Setting bound) {
    boolean googlesIsThere = ClassNames.loads(conf.getClassLoader(), ClassNames.GOOGLES_GS);
    add(
        "gcs-hadoops-connector",
        googlesIsThere
            ? bindGoogles()
            : bindGoogles().andJar(ClassNames.jarOf(ClassNames.GOOGLES_GS)),
        bound,
        googlesIsThere
            ? "; Google's, a class of the same name, is on the class path too and unused"
            : "");
  }

  private void checkGoogles() {
    ClassLoader loader = conf.getClassLoader();
    if (!ClassNames.loads(loader, OPEN_OPTIONS.replace('/', '.'))
        && names(loader, ClassNames.GOOGLES_GS, OPEN_OPTIONS)) {
      add("gcs-needs-newer-hadoop", Repair.none(), version, OPEN_OPTIONS);
    }
    Repair move = Repair.set(GS_MOVE, "true");
    Class<?> connector = conf.getClassByNameOrNull(ClassNames.GOOGLES_GS);
    Optional<GcsStore.Obstacle> obstacle =
        connector == null ? Optional.empty() : GcsStore.whyNotDirect(connector, conf);
    if (obstacle.isEmpty()) {
      if (!conf.getBoolean(GS_MOVE, true)) {
        add("gcs-no-move", move, shown(GS_MOVE));
      }
      return;
    }
    // Here the committer does not use the client of Google's connector.
    String value = obstacle.get().value;
    add(
        "gcs-filesystem-calls",
        obstacle.get().setting.map(key -> Repair.set(key, value)).orElseGet(Repair::none),
        obstacle.get().reason);
    if (!conf.getBoolean(GS_MOVE, false) && !new Stores(conf).isVouchedFor(path)) {
      boolean isSet = setting(conf, GS_MOVE).isPresent();
      add(isSet ? "gcs-no-move/set" : "gcs-no-move/unset", move, shown(GS_MOVE));
    }
    if (conf.getTrimmed("fs.gs.checksum.type", "NONE").equals("NONE")) {
      add("gcs-no-checksum", Repair.set("fs.gs.checksum.type", "CRC32C"));
    }
  }

  /** Binds Google's connector, for users of FileSystem and of FileContext. */
  static Repair bindGoogles() {
    return Repair.set(GS_IMPL, ClassNames.GOOGLES_GS)
        .andSet("fs.AbstractFileSystem.gs.impl", ClassNames.GOOGLES_ABSTRACT_GS);
  }

  /** Lets S3A's magic committer work, if it is the one for the bucket and is switched off. */
  Repair enableMagic() {
    String committer = conf.getTrimmed(bucketKey("fs.s3a.committer.name"), "");
    return committer.equalsIgnoreCase("magic") && !conf.getBoolean(bucketKey(S3_MAGIC), true)
        ? Repair.set(bucketKey(S3_MAGIC), "true")
        : Repair.none();
  }

  /** Lets uploads be made in a bucket where they are switched off. */
  Repair enableUploads() {
    String key = bucketKey(S3_UPLOADS);
    return conf.getBoolean(key, true) ? Repair.none() : Repair.set(key, "true");
  }

  /** The connector's settings that a reader of the report should know, as far as they are made. */
  Map<String, Setting> settings() {
    Map<String, Setting> settings = new TreeMap<>();
    if (new Stores(conf).family(path) == StoreFamily.ABFS) {
      setting(conf, ABFS_RATE_LIMIT).ifPresent(set -> settings.put(ABFS_RATE_LIMIT, set));
    }
    if (new Stores(conf).isLakefs(path)) {
      String api = LakefsTable.endpointKey(conf, path);
      setting(conf, api).ifPresent(set -> settings.put(api, set));
    }
    return settings;
  }

  /** Which class is the FileSystem of a path; loads none. Empty if it is not known. */
  static Optional<Setting> fileSystem(Configuration conf, Path path) {
    String scheme = StoreFamily.scheme(path, conf).toLowerCase(Locale.ROOT);
    Optional<Setting> set = setting(conf, "fs." + scheme + ".impl");
    // Hadoop asks every FileSystem that registers itself; of gs, before 3.5, that is Google's.
    return set.isEmpty() && new Stores(conf).family(path) == StoreFamily.GCS
        ? Optional.of(new Setting(ClassNames.GOOGLES_GS, "its jar"))
        : set;
  }

  /** The setting of the bucket, where it has one of its own. */
  private String bucketKey(String key) {
    String bucket = "fs.s3a.bucket." + path.toUri().getAuthority();
    String own = key.replaceFirst("^fs\\.s3a\\b", Matcher.quoteReplacement(bucket));
    return conf.get(own) == null ? key : own;
  }

  private String shown(String key) {
    return setting(conf, key).map(Setting::toString).orElse("");
  }

  /**
   * Whether a class refers to another one, by the text of its class file; loads neither. Hadoop's
   * readers of lines open files with options, of a class that came with 3.3.5. Versions 3 and 4 of
   * Google's connector are built for that, and fail only when they need it.
   */
  private static boolean names(ClassLoader loader, String className, String other) {
    try (InputStream file = loader.getResourceAsStream(className.replace('.', '/') + ".class")) {
      return file != null
          && new String(file.readAllBytes(), StandardCharsets.ISO_8859_1).contains(other);
    } catch (IOException e) {
      return false;
    }
  }
}

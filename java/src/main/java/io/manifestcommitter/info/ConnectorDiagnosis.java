// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;

/**
 * What is wrong with the settings of the connector that serves a path. Told from the configuration
 * and the class path; of a connector that is not there nothing is said.
 */
final class ConnectorDiagnosis {
  private final Configuration conf;
  private final Path path;

  ConnectorDiagnosis(Configuration conf, Path path) {
    this.conf = conf;
    this.path = path;
  }

  /** All that is wrong. */
  List<Problem> problems() {
    Optional<Setting> bound = fileSystem(conf, path);
    if (bound.isEmpty() || !ClassNames.loads(conf.getClassLoader(), bound.get().value())) {
      return List.of();
    }
    String className = bound.get().value();
    if (className.equals(ClassNames.GOOGLES_GS)) {
      return new GcsDiagnosis(conf, path).problems();
    }
    if (className.equals(ClassNames.HADOOPS_GS)) {
      return List.of(GcsDiagnosis.hadoopsConnector(conf, bound.get()));
    }
    if (className.startsWith(S3Diagnosis.PACKAGE)) {
      String bucket = String.valueOf(path.toUri().getAuthority());
      return new S3Diagnosis(conf, bucket, VersionInfo.getVersion()).problems();
    }
    return className.startsWith(ClassNames.ABFS_PACKAGE)
        ? AbfsDiagnosis.problems(conf, VersionInfo.getVersion())
        : List.of();
  }

  /** The connector's settings that a reader of the report should know, as far as they are made. */
  Map<String, Setting> settings() {
    Map<String, Setting> settings = new TreeMap<>();
    if (new Stores(conf).family(path) == StoreFamily.ABFS) {
      FactoryBinding.setting(conf, AbfsDiagnosis.RATE_LIMIT)
          .ifPresent(setting -> settings.put(AbfsDiagnosis.RATE_LIMIT, setting));
    }
    return settings;
  }

  /** Which class is the FileSystem of a path; loads none. Empty if it is not known. */
  static Optional<Setting> fileSystem(Configuration conf, Path path) {
    String literal = path.toUri().getScheme();
    String scheme =
        (literal == null ? FileSystem.getDefaultUri(conf).getScheme() : literal)
            .toLowerCase(Locale.ROOT);
    Optional<Setting> set = FactoryBinding.setting(conf, "fs." + scheme + ".impl");
    // Hadoop asks every FileSystem that registers itself; of gs, before 3.5, that is Google's.
    return set.isEmpty() && new Stores(conf).family(path) == StoreFamily.GCS
        ? Optional.of(new Setting(ClassNames.GOOGLES_GS, "its jar"))
        : set;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.store.MagicUploads;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StoreRulesTest {
  private final Configuration conf = new Configuration(false);

  @BeforeEach
  void byHadoopAws() {
    conf.set("fs.s3a.impl", S3AFileSystem.class.getName());
  }

  @Test
  void byDefaultUploadsAreAbortedAndHadoop33DeletesMarkers() {
    assertThat(problems("3.3.4"))
        .extracting(Problem::code)
        .containsExactly("s3-aborted-uploads", "s3-directory-markers");
    assertThat(problems("3.4.1")).extracting(Problem::code).containsExactly("s3-aborted-uploads");
  }

  @Test
  void everySettingThatAbortsUploadsIsNamedAndRepaired() {
    conf.set("fs.s3a.multipart.purge", "true");
    conf.set("fs.s3a.directory.operations.purge.uploads", "true");
    Problem problem = problems("3.5.0").get(0);
    assertThat(problem.text)
        .contains(
            "fs.s3a.committer.abort.pending.uploads and fs.s3a.multipart.purge and"
                + " fs.s3a.directory.operations.purge.uploads");
    problem.repair.settings.forEach((key, value) -> conf.set(key, value));
    assertThat(problems("3.5.0")).isEmpty();
  }

  @Test
  void theBucketsOwnSettingDecides() {
    String own = "fs.s3a.bucket.b.committer.abort.pending.uploads";
    conf.set("fs.s3a.committer.abort.pending.uploads", "false");
    conf.set(own, "true");
    assertThat(problems("3.5.0").get(0).repair.settings)
        .containsExactlyEntriesOf(Map.of(own, "false"));
  }

  @Test
  void magicPathsNeedWhatS3aHasFrom341OnAndOnlyIfItIsSet() {
    conf.set("fs.s3a.committer.abort.pending.uploads", "false");
    conf.set("fs.s3a.committer.magic.enabled", "false");
    assertThat(problems("3.5.0")).isEmpty();
    conf.set(CommitterConfig.S3_WRITE_TO, "Magic");
    Problem old = problems("3.4.0").get(0);
    assertThat(old.text).contains("hadoop-aws 3.4.0", "3.4.1 or newer");

    Problem problem = problems("3.5.0").get(0);
    assertThat(problem.code()).isEqualTo("s3-magic-unavailable");
    assertThat(problem.repair.settings)
        .containsOnlyKeys("fs.s3a.committer.magic.enabled", MagicUploads.IN_MEMORY);
    problem.repair.settings.forEach((name, value) -> conf.set(name, value));
    assertThat(problems("3.5.0")).isEmpty();
    old.repair.settings.forEach((name, value) -> conf.set(name, value));
    assertThat(problems("3.4.0")).isEmpty();
  }

  private List<Problem> problems(String version) {
    return new StoreRules(conf, new Path("s3a://b/t"), version).problems();
  }
}

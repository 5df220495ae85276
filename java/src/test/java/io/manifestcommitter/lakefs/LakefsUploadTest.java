// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LakefsUploadTest {
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      delimiter = ' ',
      value = {
        "s3://bucket/lake/data/g1/x,s-_ s3a://bucket/lake/data/g1/x,s-_",
        "gs://bucket/data/x,s gs://bucket/data/x,s",
      })
  void theClusterCallsAPlaceByItsOwnScheme(String physical, String expected) throws IOException {
    assertThat(LakefsUpload.ofCluster(physical).toString()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "local:///home/lakefs/data/x",
        "mem://x/y",
        "https://me.blob.core.windows.net/box/x"
      })
  void placesOfTheServerAloneAreRefused(String physical) {
    assertThatThrownBy(() -> LakefsUpload.ofCluster(physical))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(physical, "pre_sign_support");
  }
}

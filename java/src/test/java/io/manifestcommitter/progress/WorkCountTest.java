// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WorkCountTest {
  @Test
  void aLineSaysHowFarHowFastAndHowLong() {
    assertThat(
            new WorkCount("job_stage_rename_files", 1_000_000, ended -> {})
                .line(250_000, TimeUnit.SECONDS.toNanos(100)))
        .isEqualTo(
            "job_stage_rename_files: 250,000 of 1,000,000, 2,500 a second, about 300 s left");
  }
}

package io.manifestcommitter.commit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressLogTest {
  @Test
  void aLineSaysHowFarHowFastAndHowLong() {
    assertThat(
            new ProgressLog("job_stage_rename_files", 1_000_000)
                .line(250_000, TimeUnit.SECONDS.toNanos(100)))
        .isEqualTo(
            "job_stage_rename_files: 250,000 of 1,000,000, 2,500 a second, about 300 s left");
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.store.FileUpload;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class FollowUploadsTest {
  @Test
  void itsThreadEndsWithAnAttemptThatNobodyEnds() throws Exception {
    CompletableFuture<Thread> asked = new CompletableFuture<>();
    SparkTask.Follow follow =
        new SparkTask.Follow(
            () -> {
              asked.complete(Thread.currentThread());
              return true;
            });
    Upload upload = new Upload();
    follow.add(upload);

    Thread thread = asked.get(1, TimeUnit.MINUTES);
    thread.join(TimeUnit.MINUTES.toMillis(1));

    assertThat(thread.isAlive()).isFalse();
    assertThat(upload.followed.availablePermits()).isZero();
    follow.close();
  }

  @Test
  void oneThatFailsIsLeftToTheCommitAndTheOthersGoOn() throws Exception {
    SparkTask.Follow follow = new SparkTask.Follow(() -> false);
    Upload failing = new Upload();
    failing.failure = new IOException("refused");
    Upload other = new Upload();
    follow.add(failing);
    follow.add(other);

    assertThat(other.followed.tryAcquire(2, 1, TimeUnit.MINUTES)).isTrue();
    follow.close();

    assertThat(failing.followed.availablePermits()).isEqualTo(1);
  }

  private static final class Upload implements FileUpload {
    private final Semaphore followed = new Semaphore(0);
    private IOException failure;

    @Override
    public Path path() {
      throw new AssertionError("nobody asks");
    }

    @Override
    public boolean isWritten() {
      throw new AssertionError("it is not committed");
    }

    @Override
    public void follow() throws IOException {
      followed.release();
      if (failure != null) {
        throw failure;
      }
    }

    @Override
    public StoreEntry finish() {
      throw new AssertionError("it is not closed");
    }

    @Override
    public void abort() {
      throw new AssertionError("its attempt goes on");
    }
  }
}

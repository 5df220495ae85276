// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.store.CallerContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;

/** On whose behalf the committer's threads work. */
class CallerContextTest {
  private static final UserGroupInformation ALICE =
      UserGroupInformation.createProxyUser("alice", UserGroupInformation.createRemoteUser("spark"));

  /** It is made and started where nobody is alice, as where threads inherit no user. */
  @Test
  void aThreadWorksForTheCallerWhereverItIsMade() throws Exception {
    CallerContext caller = ALICE.doAs((PrivilegedAction<CallerContext>) CallerContext::new);
    AtomicReference<UserGroupInformation> seen = new AtomicReference<>();
    Thread thread = caller.thread("test", () -> seen.set(user()));
    thread.start();
    thread.join();
    assertThat(seen.get()).isEqualTo(ALICE);
    assertThat(seen.get().getRealUser().getUserName()).isEqualTo("spark");
    assertThat(thread.isDaemon()).isTrue();
  }

  @Test
  void aThreadHasTheCallersClassLoader() throws Exception {
    Thread current = Thread.currentThread();
    ClassLoader before = current.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[0], before)) {
      current.setContextClassLoader(loader);
      CallerContext caller = new CallerContext();
      current.setContextClassLoader(before);
      assertThat(caller.thread("test", () -> {}).getContextClassLoader()).isSameAs(loader);
    } finally {
      current.setContextClassLoader(before);
    }
  }

  /** Fails on Java 24 and newer where the user is left to be inherited. */
  @Test
  void allThreadsOfWorkersWorkForTheCaller() {
    List<String> seen = Collections.synchronizedList(new ArrayList<>());
    ALICE.doAs(
        (PrivilegedAction<Void>)
            () -> {
              Workers workers =
                  new Workers(3, () -> {}, Audit.job("job"), CommitProgress.unwatched());
              List<Integer> items = List.of(1, 2, 3);
              try {
                workers.forEach(items, item -> seen.add(user().getUserName()));
                workers.shield(
                    () -> {
                      workers.forEach(items, item -> seen.add(user().getUserName()));
                    });
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
              return null;
            });
    assertThat(seen).hasSize(6).containsOnly("alice");
  }

  private static UserGroupInformation user() {
    try {
      return UserGroupInformation.getCurrentUser();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.Workers;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.security.UserGroupInformation;

/** Prints on whose behalf the committer's threads work for the proxy user alice. */
final class ProxyUserMain {
  private ProxyUserMain() {}

  public static void main(String[] args) throws Exception {
    UserGroupInformation alice =
        UserGroupInformation.createProxyUser("alice", UserGroupInformation.getLoginUser());
    Set<String> seen = new TreeSet<>();
    alice.doAs(
        (PrivilegedExceptionAction<Void>)
            () -> {
              Workers workers = new Workers(2, () -> {}, Audit.job("job"));
              workers.pipe(List.of(1, 2, 3), item -> user(), 1, seen::add);
              workers.shield(
                  () -> {
                    workers.pipe(List.of(1, 2, 3), item -> user(), 1, seen::add);
                  });
              return null;
            });
    System.out.println("threads of " + seen);
  }

  private static String user() throws IOException {
    return UserGroupInformation.getCurrentUser().getShortUserName();
  }
}

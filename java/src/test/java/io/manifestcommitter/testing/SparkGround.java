// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.NavigableMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * A store in which jobs write to {@link #TABLE}, and that is filled, seen and made to fail past the
 * committer. Paths are from its root.
 */
public interface SparkGround {
  /** The path of the table. */
  String TABLE = "/table";

  /** The options of a job. */
  Configuration configuration();

  /** The path with scheme and authority. */
  Path path(String path);

  /** Puts a file there, past the committer. */
  void put(String path, String content);

  /** The content of all files by path. */
  NavigableMap<String, String> files();

  /** Sees all requests from now on, numbered from 1, each before it takes effect. */
  void onRequest(Fault fault);

  /** Lets all requests succeed, unseen, from now on. */
  void noFault();

  /** All stores of jobs. */
  default Store stores(Configuration conf) throws IOException {
    return stores(conf, RequestGate.open());
  }

  /** The same, whose requests go through a gate. */
  default Store stores(Configuration conf, RequestGate gate) throws IOException {
    return new Stores(conf, gate).all();
  }
}

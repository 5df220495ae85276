package io.manifestcommitter.spark;

import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.MemoryStoreState.Fault;
import java.io.File;
import java.util.NavigableMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** A store that is filled, seen and made to fail past the committer. Paths are from its root. */
interface ReaderStore {
  /**
   * A fresh store.
   *
   * @param scheme {@code file} for the local filesystem; all others are served from memory
   * @param directory an empty directory for the local one
   */
  static ReaderStore open(String scheme, File directory) {
    return scheme.equals("file") ? new ReaderLocalStore(directory) : new InMemory(scheme);
  }

  /** In which the store's scheme is served. */
  Configuration configuration();

  /** The path with scheme and authority. */
  Path path(String path);

  /** Puts a file there. */
  void put(String path, String content);

  /** The content of all files by path. */
  NavigableMap<String, String> files();

  /** Sees all requests from now on, numbered from 1, each before it takes effect. */
  void onRequest(Fault fault);

  /** Lets all requests succeed, unseen, from now on. */
  void noFault();

  /** A store in memory. */
  final class InMemory implements ReaderStore {
    private final String scheme;
    private final String authority;
    private final MemoryStoreState state;

    private InMemory(String scheme) {
      this.scheme = scheme;
      this.authority = "reader-" + scheme;
      this.state = MemoryFileSystem.state(authority);
      state.clear();
    }

    @Override
    public Configuration configuration() {
      Configuration conf = MemoryFileSystem.configuration();
      conf.set("fs.abfss.impl", MemoryFileSystem.class.getName());
      conf.set("fs.abfss.impl.disable.cache", "true");
      return conf;
    }

    @Override
    public Path path(String path) {
      return new Path(scheme, authority, path);
    }

    @Override
    public void put(String path, String content) {
      state.write(path, content);
    }

    @Override
    public NavigableMap<String, String> files() {
      return state.files();
    }

    @Override
    public void onRequest(Fault fault) {
      state.resetRequests();
      state.onRequest(fault);
    }

    @Override
    public void noFault() {
      state.noFault();
    }
  }
}

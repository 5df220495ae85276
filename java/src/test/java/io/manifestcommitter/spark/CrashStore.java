package io.manifestcommitter.spark;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.MemoryStoreState.Fate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** A store in memory that can die and be frozen, and the options of all jobs that write to it. */
final class CrashStore {
  static final String TABLE = "/table";
  static final String LAST_REPORT = "the last report";
  static final String LAST_LIST = "the last list";

  /** In milliseconds; twice the interval, the least that is allowed. */
  private static final int HEARTBEAT_TIMEOUT = 20_000;

  private final String scheme;
  private final String directoryRename;
  private final boolean marksSuccess;
  private final MemoryStoreState state;

  CrashStore(String scheme, String directoryRename, boolean marksSuccess) {
    this.scheme = scheme;
    this.directoryRename = directoryRename;
    this.marksSuccess = marksSuccess;
    this.state = MemoryFileSystem.state(authority());
  }

  /** Each scheme with each way to publish, with and without {@code _SUCCESS}. */
  static List<CrashStore> all(String... schemes) {
    List<CrashStore> all = new ArrayList<>();
    for (String scheme : schemes) {
      for (String directoryRename : List.of("auto", "off")) {
        for (boolean marksSuccess : new boolean[] {true, false}) {
          all.add(new CrashStore(scheme, directoryRename, marksSuccess));
        }
      }
    }
    return all;
  }

  /** Each scheme, with and without {@code _SUCCESS}; the Hadoop protocol renames no directories. */
  static List<CrashStore> byFile(String... schemes) {
    List<CrashStore> all = all(schemes);
    all.removeIf(store -> store.directoryRename.equals("auto"));
    return all;
  }

  String scheme() {
    return scheme;
  }

  boolean renamesDirectories() {
    return directoryRename.equals("auto");
  }

  MemoryStoreState state() {
    return state;
  }

  boolean marksSuccess() {
    return marksSuccess;
  }

  ReaderWay way() {
    return ReaderWay.of(scheme, directoryRename);
  }

  private String authority() {
    return "crash-" + scheme;
  }

  Path path(String path) {
    return new Path(scheme, authority(), path);
  }

  /** The options of a job; one thread, so that its requests come in one order. */
  Configuration configuration() {
    Configuration conf = MemoryFileSystem.configuration();
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, marksSuccess);
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    conf.setInt("mapreduce.manifest.committer.manifest.save.attempts", 1);
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT + "ms");
    return conf;
  }

  /** Whoever asks it now dies at a request, counted from 1: nothing it asks later is done. */
  void dieAt(int number, Fate fate) {
    state.resetRequests();
    state.onRequest(
        (now, operation, path) ->
            now < number ? Fate.NORMAL : now == number ? fate : Fate.FAILS_BEFORE);
  }

  /** Lets time pass, in the store's clock, until every heartbeat is stale. */
  void passTime() {
    state.passTime(HEARTBEAT_TIMEOUT + 1);
  }

  /** The content of all files that a reader sees. */
  NavigableMap<String, String> visible() {
    NavigableMap<String, String> visible = new TreeMap<>(state.files());
    visible.keySet().removeIf(CrashStore::isHidden);
    return visible;
  }

  /** All directories that a reader sees, without those at locations: these stay, empty. */
  NavigableSet<String> tableDirectories() {
    NavigableSet<String> visible = new TreeSet<>(state.directories());
    visible.removeIf(path -> isHidden(path) || !(path + "/").startsWith(TABLE + "/"));
    return visible;
  }

  /** What is left of staging, directories too. */
  List<String> staging() {
    List<String> left = new ArrayList<>(state.paths());
    left.removeIf(path -> !path.contains("/_manifest_") && !path.contains("/_temporary"));
    return left;
  }

  /** Removes a directory, and those above it, that hold nothing. */
  void removeIfEmpty(String directory) {
    if (!directory.equals(TABLE)
        && state.paths().stream().noneMatch(path -> path.startsWith(directory + "/"))) {
      state.remove(directory);
      removeIfEmpty(directory.substring(0, directory.lastIndexOf('/')));
    }
  }

  /** The content of a file; empty if it is not there. */
  String text(String path) {
    return state.files().getOrDefault(path, "");
  }

  /**
   * Equal for stores that hold the same: all paths, and the content of what is or becomes visible.
   * What the committer itself writes is there in full or not at all, and holds times.
   */
  Map<String, String> fingerprint() {
    Map<String, String> print = new TreeMap<>();
    state.paths().forEach(path -> print.put(nameless(path), "a directory, or not for readers"));
    state
        .files()
        .forEach(
            (path, content) -> {
              if (content.length() < 200 && !path.contains("/_SUCCESS")) {
                print.put(nameless(path), content);
              }
            });
    for (String name : List.of("/_SUCCESS", "/_SUCCESS.files")) {
      String content = text(TABLE + name);
      print.put(name, content.length() < 20 ? content : isOfTheDead(content) ? "dead" : "");
    }
    return print;
  }

  private static boolean isOfTheDead(String report) {
    return report.contains(CrashJob.DEAD) || report.contains(CrashHadoopRuns.DEAD_NAME);
  }

  /** Without the times and random names in a path. */
  private static String nameless(String path) {
    return path.replaceFirst("/locations/.*", "/locations/x")
        .replaceFirst("/last-[0-9]+", "/last")
        .replaceFirst("(/journal-[a-z]+)-[1-9][0-9]*", "$1-recovery");
  }

  private static boolean isHidden(String path) {
    return path.contains("/_") || path.contains("/.");
  }

  @Override
  public String toString() {
    return scheme + "/" + directoryRename + "/" + (marksSuccess ? "marker" : "no-marker");
  }
}

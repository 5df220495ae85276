// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.store.FolderClock;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.trials.PairParty.PairWriter;
import io.manifestcommitter.trials.ReaderPage.ReaderWay;
import io.manifestcommitter.trials.ReaderWrite.ReaderPlace;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * A store in memory that can die and be frozen, and the options of all jobs that write to it. It is
 * called by one of its names; custom locations are called by the first one.
 */
final class CrashStore implements SparkGround {
  private static final String RENAMED = "/renamed";

  /** Of a NameNode, at the port that it has by default. */
  private static final String ADDRESS = "127.0.0.1";

  static final String LAST_REPORT = "the last report";
  static final String LAST_LIST = "the last list";

  /** In milliseconds, as by default. */
  private static final int HEARTBEAT_TIMEOUT = 45_000;

  private final String kind;
  private final String scheme;
  private final String directoryRename;
  private final boolean marksSuccess;
  private final boolean holdsOld;
  private final String name;
  private final String table;
  private final MemoryStoreState state;

  /**
   * A store.
   *
   * @param kind its scheme, or its name
   */
  CrashStore(String kind, String directoryRename, boolean marksSuccess) {
    this(
        kind,
        directoryRename,
        marksSuccess,
        /* holdsOld= */ false,
        MemoryFileSystem.scheme(kind) + "://crash-" + kind,
        TABLE);
  }

  private CrashStore(
      String kind,
      String directoryRename,
      boolean marksSuccess,
      boolean holdsOld,
      String name,
      String table) {
    this.kind = kind;
    this.scheme = MemoryFileSystem.scheme(kind);
    this.directoryRename = directoryRename;
    this.marksSuccess = marksSuccess;
    this.holdsOld = holdsOld;
    this.name = name;
    this.table = table;
    this.state = MemoryFileSystem.state("crash-" + kind);
    if (kind.equals(MemoryFileSystem.GS_FOLDERS)) {
      FolderClock.passWithoutPauses();
    }
  }

  /** The same, by another name, where it has one. */
  CrashStore byOtherName() {
    String other =
        scheme.equals("abfs")
            ? "abfss://crash-abfs"
            : scheme.equals("hdfs") ? "hdfs://" + ADDRESS : name;
    return new CrashStore(kind, directoryRename, marksSuccess, holdsOld, other, table);
  }

  /** The same by its first name, or by another one: each for half of the numbers. */
  CrashStore byName(int number) {
    return number % 2 == 0 ? this : byOtherName();
  }

  /** The same, with the table renamed: that it is done, and undone, is another matter. */
  CrashStore withTableRenamed() {
    return new CrashStore(kind, directoryRename, marksSuccess, holdsOld, name, RENAMED);
  }

  /** Renames the table. */
  void renameTable() {
    // No folder is renamed while one in it is.
    state.finishRenames();
    state.rename(TABLE, RENAMED);
  }

  /** Gives the table its name back. */
  void renameTableBack() {
    state.finishRenames();
    state.rename(RENAMED, TABLE);
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

  /**
   * Those that do not tell beforehand whether data may be deleted, with old data that nobody may
   * delete.
   */
  static List<CrashStore> holdingOld() {
    List<CrashStore> stores = all("abfs");
    stores.addAll(byFile("gs", "s3a"));
    stores.replaceAll(CrashStore::holdsOld);
    return stores;
  }

  private CrashStore holdsOld() {
    return new CrashStore(kind, directoryRename, marksSuccess, /* holdsOld= */ true, name, table);
  }

  /** Whether the data that a table is filled with may not be deleted. */
  boolean isHoldingOld() {
    return holdsOld;
  }

  /** From here on everything may be deleted. */
  void allowDeletion() {
    state.release();
  }

  /** As it is told. */
  String kind() {
    return holdsOld ? kind + "-held" : kind;
  }

  /** Whether output is uploaded, and becomes visible when the uploads are completed. */
  boolean isUploaded() {
    return scheme.equals("s3a");
  }

  /** Whether report and list are of one job, whatever happens to another one. */
  boolean keepsReports() {
    return !isUploaded() || kind.equals(MemoryFileSystem.S3_CONDITIONAL);
  }

  /** Whether a file that is created is seen in part until it is closed; an object never is. */
  boolean filesGrowInSight() {
    return !isUploaded() && !scheme.equals("gs");
  }

  /** Fills it with a table, whose old data may be held. */
  void fill(ReaderWrite write) {
    state.clear();
    for (ReaderPlace place : write.places()) {
      for (String file : place.oldFiles()) {
        state.write(file, "old " + file);
        if (holdsOld) {
          state.hold(file);
        }
      }
    }
    if (write.hasLastReport()) {
      state.write(TABLE + "/_SUCCESS", LAST_REPORT);
      state.write(TABLE + "/_SUCCESS.files", LAST_LIST);
    }
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
    return ReaderWay.of(kind, directoryRename);
  }

  /** Of a path in the table, or of a custom location. */
  @Override
  public Path path(String path) {
    boolean isInTable = (path + "/").startsWith(TABLE + "/");
    return new Path((isInTable ? name : scheme + "://crash-" + kind) + inStore(path));
  }

  @Override
  public void put(String path, String content) {
    state.write(inStore(path), content);
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

  /** What the store calls a path, if the table is renamed. */
  String inStore(String path) {
    return (path + "/").startsWith(TABLE + "/") ? table + path.substring(TABLE.length()) : path;
  }

  /** The options of a job; one thread, so that its requests come in one order. */
  @Override
  public Configuration configuration() {
    Configuration conf = MemoryFileSystem.configuration(kind);
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, marksSuccess);
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    conf.setInt("mapreduce.manifest.committer.manifest.save.attempts", 1);
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT + "ms");
    conf.set("dfs.nameservices", "crash-hdfs");
    conf.set("dfs.ha.namenodes.crash-hdfs", "nn1,nn2");
    conf.set("dfs.namenode.rpc-address.crash-hdfs.nn1", "127.0.0.2:8020");
    conf.set("dfs.namenode.rpc-address.crash-hdfs.nn2", ADDRESS + ":8020");
    MemoryFileSystem.same(conf, "crash-hdfs", ADDRESS);
    return conf;
  }

  /** Whoever asks it now dies at a request, counted from 1: nothing it asks later is done. */
  void dieAt(int number, Fate fate) {
    onRequest(Fault.deadFrom(number, fate));
  }

  /**
   * What it holds after each request of something that somebody does; at 0 what it held before.
   *
   * @param from what it holds when that begins
   */
  List<Map<String, String>> leftAfterEach(Snapshot from, Failures.Action action) {
    List<Map<String, String>> left = new ArrayList<>();
    state.restore(from);
    state.onRequest(
        (number, operation, path) -> {
          left.add(fingerprint());
          return Fate.NORMAL;
        });
    Failures.of(action);
    state.noFault();
    left.add(fingerprint());
    return left;
  }

  /** Lets time pass, in the store's clock, until every heartbeat is stale. */
  void passTime() {
    state.passTime(HEARTBEAT_TIMEOUT + 1);
  }

  /** The content of all files that a reader sees. */
  NavigableMap<String, String> visible() {
    NavigableMap<String, String> visible = new TreeMap<>(state.files());
    visible.keySet().removeIf(path -> isHidden(path));
    return visible;
  }

  /** What a reader sees when the store has ended all by itself what was under way. */
  NavigableMap<String, String> visibleOnceRenamed() {
    Snapshot now = state.snapshot();
    state.finishRenames();
    NavigableMap<String, String> visible = visible();
    state.restore(now);
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
    state.uploads().forEach(path -> left.add("an upload of " + path));
    return left;
  }

  /** Gives up what a writer that died before its journal had begun uploaded. */
  void giveUp(PairWriter writer) {
    writer.write().rows().keySet().forEach(state::abortUpload);
    state.abortUpload(TABLE + "/_manifest_" + writer.jobId() + "/00/journal-committed-0");
  }

  /** Gives up an upload to a path. */
  void giveUp(Path path) {
    state.abortUpload(path.toUri().getPath());
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
    state
        .paths()
        .forEach(path -> print.putIfAbsent(nameless(path), "a directory, or not for readers"));
    state
        .files()
        .forEach(
            (path, content) -> {
              if (path.contains("/replaces")) {
                // The time is in it; a part of it is another state.
                print.put(nameless(path), content.length() + " characters");
              } else if (content.length() < 200 && !path.contains("/_SUCCESS")) {
                print.put(nameless(path), content);
              }
            });
    state.uploads().forEach(path -> print.put("upload of " + path, "waits"));
    state.renames().forEach(rename -> print.put("rename of " + nameless(rename), "is under way"));
    for (String name : List.of("/_SUCCESS", "/_SUCCESS.files")) {
      String content = text(TABLE + name);
      print.put(name, content.length() < 20 ? content : isOfTheDead(content) ? "dead" : "");
    }
    return print;
  }

  private static boolean isOfTheDead(String report) {
    return report.contains(DriverJob.DEAD) || report.contains(CrashHadoopRuns.DEAD_NAME);
  }

  /** Without the times and random names in a path. */
  private static String nameless(String path) {
    return path.replaceFirst("/locations/.*", "/locations/x")
        .replaceFirst("/last-[0-9]+", "/last")
        .replaceFirst("(/journal-[a-z]+)-[1-9][0-9]*", "$1-recovery")
        .replaceAll("/00/old/[1-9][0-9]*", "/00/old/recovery")
        .replaceAll("/00/sealed-[0-9]+", "/00/sealed-recovery");
  }

  private static boolean isHidden(String path) {
    return path.contains("/_") || path.contains("/.");
  }

  @Override
  public String toString() {
    return kind() + "/" + directoryRename + "/" + (marksSuccess ? "marker" : "no-marker");
  }
}

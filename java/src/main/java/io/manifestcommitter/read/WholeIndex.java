// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusCache;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.Seq;
import scala.collection.immutable.Map;

/**
 * An index of files that somebody else has found, as Spark's own index would show them: it finds
 * and types the partitions. A refresh asks for the files again. One class file serves Scala 2.12
 * and 2.13: a method whose parameters differ exists twice.
 */
final class WholeIndex implements FileIndex {
  /** What a store without blocks says; nobody splits a file by it. */
  private static final long BLOCK = 128L << 20;

  private final SparkSession session;
  private final Path table;
  private final Map<String, String> options;
  private final Option<StructType> schema;
  private final CallableRaisingIOE<java.util.Map<Path, StoreEntry>> source;
  private volatile FileIndex found;

  /**
   * An index, which looks at once.
   *
   * @param schema that the user gave, by which partitions are typed
   * @param source finds all files, by the places where they belong
   */
  WholeIndex(
      SparkSession session,
      Path table,
      Map<String, String> options,
      Option<StructType> schema,
      CallableRaisingIOE<java.util.Map<Path, StoreEntry>> source) {
    this.session = session;
    this.table = table;
    this.options = options;
    this.schema = schema;
    this.source = source;
    refresh();
  }

  @Override
  public void refresh() {
    java.util.Map<Path, StoreEntry> files;
    try {
      files = source.apply();
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
    List<FileStatus> statuses = new ArrayList<>();
    files.forEach(
        (place, file) ->
            statuses.add(
                new FileStatus(file.length(), false, 1, BLOCK, file.lastWritten(), place)));
    FileIndex index =
        SparkCalls.make(
            InMemoryFileIndex.class,
            session,
            rootPaths(),
            options,
            schema,
            new Known(statuses.toArray(new FileStatus[0])),
            Option.empty(),
            Option.empty());
    // The index has sorted them by the partitions in their places. They are read where they are.
    statuses.forEach(status -> status.setPath(files.get(status.getPath()).path()));
    found = index;
  }

  /** The files, as the reader of a format takes them. */
  Object allFiles() {
    return SparkCalls.call(found, found.getClass(), "allFiles");
  }

  @Override
  public scala.collection.immutable.Seq<Path> rootPaths() {
    return SparkCalls.list(List.of(table));
  }

  /** Spark 3.5, Scala 2.12. */
  @Override
  public Seq<PartitionDirectory> listFiles(
      Seq<Expression> partitionFilters, Seq<Expression> dataFilters) {
    return SparkCalls.call(found, FileIndex.class, "listFiles", partitionFilters, dataFilters);
  }

  /** Spark 4, Scala 2.13, whose {@code Seq} is the immutable one. */
  public scala.collection.immutable.Seq<PartitionDirectory> listFiles(
      scala.collection.immutable.Seq<Expression> partitionFilters,
      scala.collection.immutable.Seq<Expression> dataFilters) {
    return SparkCalls.call(found, FileIndex.class, "listFiles", partitionFilters, dataFilters);
  }

  @Override
  public String[] inputFiles() {
    return found.inputFiles();
  }

  @Override
  public long sizeInBytes() {
    return found.sizeInBytes();
  }

  @Override
  public StructType partitionSchema() {
    return found.partitionSchema();
  }

  @Override
  public String toString() {
    return "WholeIndex(" + table + ")";
  }

  /** By which Spark's index knows the files without a listing of its own. */
  private static final class Known extends FileStatusCache {
    private final FileStatus[] files;

    Known(FileStatus[] files) {
      this.files = files;
    }

    @Override
    public Option<FileStatus[]> getLeafFiles(Path path) {
      return Option.apply(files);
    }

    @Override
    public void putLeafFiles(Path path, FileStatus[] leafFiles) {}

    @Override
    public void invalidateAll() {}
  }
}

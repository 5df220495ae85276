// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.DataSource$;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.sources.RelationProvider;
import org.apache.spark.sql.sources.SchemaRelationProvider;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map;

/**
 * A table that jobs of the Spark protocol write to, read as it was before or after the commit of
 * each: {@code spark.read.format("manifest-committer").option("format", "parquet").load(path)}.
 * Spark reads the files in its own way, and finds and types the partitions.
 */
public final class WholeSource
    implements RelationProvider, SchemaRelationProvider, DataSourceRegister {
  private static final String PATH = "path";
  private static final String FORMAT = "format";

  /** A held job, of which what it would publish is read. */
  private static final String HELD = "held";

  /** A job that keeps what it replaced, before which the table is read. */
  private static final String BEFORE = "before";

  /** They leave files out by their names or times, which says nothing here. */
  private static final List<String> REFUSED =
      List.of("pathGlobFilter", "modifiedBefore", "modifiedAfter", "recursiveFileLookup");

  @Override
  public String shortName() {
    return "manifest-committer";
  }

  @Override
  public BaseRelation createRelation(SQLContext context, Map<String, String> options) {
    return relation(context.sparkSession(), options, Option.empty());
  }

  @Override
  public BaseRelation createRelation(
      SQLContext context, Map<String, String> options, StructType schema) {
    return relation(context.sparkSession(), options, Option.apply(schema));
  }

  private static BaseRelation relation(
      SparkSession session, Map<String, String> options, Option<StructType> schema) {
    String path =
        option(options, PATH)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "Give the path of one table. To read several as one, read each and use"
                            + " union"));
    for (String option : REFUSED) {
      if (option(options, option).isPresent()) {
        throw new IllegalArgumentException(
            option + " would leave a part of the table out: filter the rows, or use spark.read");
      }
    }
    Object state = SparkCalls.call(session, session.getClass(), "sessionState");
    Configuration conf =
        SparkCalls.call(state, state.getClass(), "newHadoopConfWithOptions", options);
    try {
      TableReader reader = WholeReader.of(conf, new Path(path), option(options, BEFORE));
      Optional<String> held = option(options, HELD);
      CallableRaisingIOE<java.util.Map<Path, StoreEntry>> files =
          held.isPresent() ? () -> reader.held(held.get()) : reader::files;
      return relation(session, reader.table, options, schema, files);
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  private static Optional<String> option(Map<String, String> options, String name) {
    Option<String> value = options.get(name);
    return value.isEmpty() ? Optional.empty() : Optional.of(value.get());
  }

  /** What Spark reads the files by; it asks for them now, and when it refreshes the table. */
  private static BaseRelation relation(
      SparkSession session,
      Path table,
      Map<String, String> options,
      Option<StructType> schema,
      CallableRaisingIOE<java.util.Map<Path, StoreEntry>> source) {
    Object state = SparkCalls.call(session, session.getClass(), "sessionState");
    SQLConf settings = SparkCalls.call(state, state.getClass(), "conf");
    FileFormat format =
        format(option(options, FORMAT).orElse(settings.defaultDataSourceName()), settings);
    WholeIndex index = new WholeIndex(session, table, options, schema, source);
    StructType partitions = index.partitionSchema();
    StructType data =
        schema.isEmpty()
            ? inferred(session, format, options, index)
            : without(schema.get(), partitions, settings.caseSensitiveAnalysis());
    StructType nullable = SparkCalls.call(data, StructType.class, "asNullable");
    return SparkCalls.make(
        HadoopFsRelation.class,
        index,
        partitions,
        nullable,
        Option.empty(),
        format,
        options,
        session);
  }

  private static FileFormat format(String name, SQLConf settings) {
    Object source = SparkCalls.make(DataSource$.MODULE$.lookupDataSource(name, settings));
    if (source instanceof FileDataSourceV2) {
      source = SparkCalls.make(((FileDataSourceV2) source).fallbackFileFormat());
    }
    if (source instanceof FileFormat) {
      return (FileFormat) source;
    }
    throw new IllegalArgumentException(
        name + " is no format of files. Name one, such as parquet or csv, by the option " + FORMAT);
  }

  private static StructType inferred(
      SparkSession session, FileFormat format, Map<String, String> options, WholeIndex index) {
    Option<StructType> found =
        SparkCalls.call(
            format, FileFormat.class, "inferSchema", session, options, index.allFiles());
    if (found.isEmpty()) {
      throw new IllegalArgumentException(
          index.rootPaths().head()
              + " has no committed file from which its columns can be told: give a schema");
    }
    return found.get();
  }

  /** The columns in the files: what the path of a partition tells is not one of them. */
  private static StructType without(
      StructType all, StructType partitions, boolean isCaseSensitive) {
    UnaryOperator<String> known = name -> isCaseSensitive ? name : name.toLowerCase(Locale.ROOT);
    Set<String> names =
        Arrays.stream(partitions.fieldNames()).map(known).collect(Collectors.toSet());
    return new StructType(
        Arrays.stream(all.fields())
            .filter(field -> !names.contains(known.apply(field.name())))
            .toArray(StructField[]::new));
  }
}

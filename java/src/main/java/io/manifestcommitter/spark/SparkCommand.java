// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Product;
import scala.Some;

/**
 * The SQL command that a thread of Spark's driver runs, so far as the thread knows it. Spark does
 * not tell a protocol. By reflection: Spark's core, which is all that is needed, has no SQL.
 */
final class SparkCommand {
  private static final Logger LOG = LoggerFactory.getLogger(SparkCommand.class);
  private static final String COMMANDS = "org.apache.spark.sql.execution.";
  private static final String CATALOG_TABLE = "org.apache.spark.sql.catalyst.catalog.CatalogTable";

  /** In the names of all commands that make a table, and fill it. */
  private static final String AS_SELECT = "AsSelect";

  /** Commands that do nothing to a table besides, but for partitions in the catalog. */
  private static final Set<String> HOLDABLE =
      Set.of(
          COMMANDS + "datasources.InsertIntoHadoopFsRelationCommand",
          COMMANDS + "command.InsertIntoDataSourceDirCommand");

  private final boolean isOfSql;
  private final Optional<Product> command;

  private SparkCommand(boolean isOfSql, Optional<Product> command) {
    this.isOfSql = isOfSql;
    this.command = command;
  }

  static SparkCommand ofThisThread() {
    String id = null;
    Product analyzed = null;
    try {
      Option<SparkContext> spark = org.apache.spark.SparkContext$.MODULE$.getActive();
      id = spark.isEmpty() ? null : spark.get().getLocalProperty("spark.sql.execution.id");
      if (id != null) {
        Object execution =
            Class.forName("org.apache.spark.sql.execution.SQLExecution")
                .getMethod("getQueryExecution", long.class)
                .invoke(null, Long.parseLong(id));
        analyzed = (Product) execution.getClass().getMethod("analyzed").invoke(execution);
      }
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      LOG.debug("Spark does not name its command", e);
    }
    return new SparkCommand(id != null, Optional.ofNullable(analyzed));
  }

  /** Spark's SaveMode, such as {@code Overwrite}. */
  Optional<String> mode() {
    return parts()
        .filter(part -> part instanceof Enum && part.getClass().getSimpleName().equals("SaveMode"))
        .map(part -> ((Enum<?>) part).name())
        .findFirst();
  }

  private Stream<Object> parts() {
    return command.stream()
        .flatMap(it -> IntStream.range(0, it.productArity()).mapToObj(it::productElement));
  }

  /**
   * Requires that Spark does nothing to a table after a commit that succeeded, before anybody has
   * looked at the data. No request.
   *
   * @throws IOException if it does, or if nothing tells; it says what to do
   */
  void requireHoldable(Path table) throws IOException {
    if (!isOfSql) {
      return;
    }
    String name =
        isAsSelect() ? AS_SELECT : command.map(it -> it.getClass().getName()).orElse("unknown");
    if (!HOLDABLE.contains(name)) {
      throw refused(
          table,
          "Spark's command ("
              + name.substring(name.lastIndexOf('.') + 1)
              + ") makes or changes a table of the catalog itself, or may do so",
          "Write to the path, or INSERT INTO a table that is there and has no partitions");
    }
    if (hasPartitionsInCatalog()) {
      throw refused(
          table,
          "it is a table of the catalog with partitions, which Spark registers and drops after"
              + " each write, before anybody has looked",
          "Write to its path, and register the partitions once the job is published");
    }
  }

  /** Such a command, as of {@code saveAsTable}, runs another one that writes, with its own plan. */
  private static boolean isAsSelect() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> frame.getClassName().contains(AS_SELECT)));
  }

  private boolean hasPartitionsInCatalog() throws IOException {
    Optional<Object> table =
        parts()
            .map(part -> part instanceof Some ? ((Some<?>) part).get() : part)
            .filter(part -> part != null && part.getClass().getName().equals(CATALOG_TABLE))
            .findFirst();
    if (!table.isPresent()) {
      return false;
    }
    try {
      Object names = table.get().getClass().getMethod("partitionColumnNames").invoke(table.get());
      return (int) names.getClass().getMethod("size").invoke(names) > 0;
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("Spark does not show the partitions of its table", e);
      return true;
    }
  }

  static IOException refused(Path table, String why, String instead) {
    return new IOException(
        "A write to "
            + table
            + " cannot be held ("
            + CommitterConfig.PUBLISH
            + " is hold): "
            + why
            + ". Nothing was changed. "
            + instead
            + ", or leave the option out");
  }
}

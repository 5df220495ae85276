// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Product;
import scala.Some;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * The SQL command that a thread of Spark's driver runs, and who writes its files, so far as the
 * thread knows it. Spark does not tell a protocol. By reflection: Spark's core, which is all that
 * is needed, has no SQL.
 */
public final class SparkCommand {
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

  /**
   * What Gluten puts into a plan in place of {@link #SPARKS_WRITER} where it writes the files: the
   * same names from 1.2 to 1.6. Both fail in their tasks unless the protocol extends Spark's. If
   * its committer is no FileOutputCommitter, both then write straight into the table.
   */
  private static final Pattern GLUTENS_WRITER =
      Pattern.compile("org\\.apache\\.spark\\.sql\\.execution\\.(Velox|CH)ColumnarWriteFilesExec");

  private static final String SPARKS_WRITER =
      "org.apache.spark.sql.execution.datasources.WriteFilesExec";

  private static final Pattern ENGINE = Pattern.compile("(?i).*(gluten|velox|comet|photon).*");

  private final boolean isOfSql;
  private final Optional<Product> command;

  /** The classes of the plan's nodes, from the write downwards. */
  private final Set<String> nodes;

  SparkCommand(boolean isOfSql, Optional<Product> command, Set<String> nodes) {
    this.isOfSql = isOfSql;
    this.command = command;
    this.nodes = nodes;
  }

  /** What is known of it; never fails. */
  public static SparkCommand ofThisThread() {
    String id = null;
    Product analyzed = null;
    Set<String> nodes = new LinkedHashSet<>();
    try {
      Option<SparkContext> spark = org.apache.spark.SparkContext$.MODULE$.getActive();
      id = spark.isEmpty() ? null : spark.get().getLocalProperty("spark.sql.execution.id");
      if (id != null) {
        Object execution =
            Class.forName("org.apache.spark.sql.execution.SQLExecution")
                .getMethod("getQueryExecution", long.class)
                .invoke(null, Long.parseLong(id));
        analyzed = (Product) call(execution, "analyzed");
        addNodes(call(execution, "executedPlan"), nodes);
      }
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      LOG.debug("Spark does not name its command", e);
    }
    return new SparkCommand(id != null, Optional.ofNullable(analyzed), nodes);
  }

  /** Goes into the plans that adaptive execution hides: in the tree their nodes are leaves. */
  private static void addNodes(Object plan, Set<String> nodes) throws ReflectiveOperationException {
    String name = plan.getClass().getName();
    nodes.add(name);
    for (Iterator<?> it = ((Seq<?>) call(plan, "children")).iterator(); it.hasNext(); ) {
      addNodes(it.next(), nodes);
    }
    if (name.endsWith(".AdaptiveSparkPlanExec")) {
      addNodes(call(plan, "executedPlan"), nodes);
    } else if (name.endsWith("QueryStageExec")) {
      addNodes(call(plan, "plan"), nodes);
    }
  }

  private static Object call(Object target, String method) throws ReflectiveOperationException {
    return target.getClass().getMethod(method).invoke(target);
  }

  /**
   * Requires that the files are not written by an engine that heeds none but Spark's own
   * committers. Where the plan is not known, nothing is refused. What a writer does with the names
   * that it gets is proven when the job commits. No request.
   *
   * <p>An unchecked exception: PySpark shows the message of this one first.
   *
   * @throws IllegalArgumentException if they are; it names the setting that repairs it
   */
  public void requireKnownWriter(String table) {
    Set<String> engines = new LinkedHashSet<>();
    for (String node : nodes) {
      String simple = node.substring(node.lastIndexOf('.') + 1);
      if (GLUTENS_WRITER.matcher(node).matches()) {
        throw new IllegalArgumentException(
            "Refused to write "
                + table
                + ": Gluten would write the files itself ("
                + simple
                + "). With this committer its tasks fail, or write straight into the table. Nothing was"
                + " changed. Set spark.gluten.sql.native.writer.enabled to false: Gluten still computes"
                + " the rows, and Spark writes them");
      }
      if (simple.contains("Write") && !node.equals(SPARKS_WRITER)) {
        LOG.warn(
            "The files of {} are written by {}, which this version does not know. If it uses other"
                + " names than it is given, the job fails when it commits",
            table,
            node);
      } else if (ENGINE.matcher(node).matches()) {
        engines.add(simple);
      }
    }
    if (!engines.isEmpty()) {
      LOG.info("Spark writes the files of {}. A native engine computes rows: {}", table, engines);
    }
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

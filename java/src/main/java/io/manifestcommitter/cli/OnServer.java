// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.progress.JvmWide;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * What the Python package asks of a driver. Of a Spark Connect server, whose JVM it cannot reach,
 * it asks by Spark's SQL function {@code java_method}. Where that is called on rows that the query
 * itself holds, Spark computes it while it plans the query, in the server, with the session at
 * hand.
 */
public final class OnServer {
  private static final String SESSION = "org.apache.spark.sql.SparkSession";
  private static final int REMEMBERED = 20;
  private static final Set<String> ONCE = Set.of("recover", "clean", "cancel", "ids", "held");

  private OnServer() {}

  /**
   * Does something, and answers also when it fails.
   *
   * @param what one of {@code find}, {@code read}, {@code recover}, {@code clean}, {@code history},
   *     {@code ids}, {@code held}, {@code files}, {@code commits}, {@code cancel}
   * @param arguments an object with what that needs; with {@code id}, unique for each question and
   *     in the order of questions, for what is not to be done twice
   * @return an object with {@code value}, which is text or null, or with {@code error}, a text, and
   *     {@code missing}, whether nothing is at the path
   */
  public static String call(String what, String arguments) {
    try {
      JsonNode given = Json.read(arguments.getBytes(StandardCharsets.UTF_8));
      return ONCE.contains(what)
          ? once(given.get("id").asText(), () -> answer(what, given))
          : answer(what, given);
    } catch (ExecutionException e) {
      return error(e.getCause());
    } catch (IOException | RuntimeException e) {
      return error(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return error(e);
    }
  }

  /** Text in any case: the class of an exception is another one in each class loader. */
  private static String answer(String what, JsonNode given) {
    try {
      return Json.line(new Json.Fields().with("value", value(what, given)));
    } catch (IOException | ReflectiveOperationException | RuntimeException e) {
      return error(e);
    }
  }

  private static String error(Throwable e) {
    return Json.line(
        new Json.Fields()
            .with("error", e.toString().split("\n", 2)[0])
            .with("missing", e instanceof NothingThereException));
  }

  /**
   * The commits of this JVM that run, the first first, and then the last ones that ended.
   *
   * @return an array with an object for each, as {@link
   *     io.manifestcommitter.progress.CommitSnapshot#toMap} has it
   */
  public static String commits() {
    return Json.line(Commits.ofAllClassLoaders());
  }

  /**
   * Cancels the commit of a job, or its setup.
   *
   * @return {@code true} if it fails, else {@code false}: see {@link Commits#cancel}
   */
  public static String cancel(String jobId) {
    return Boolean.toString(Commits.cancel(jobId));
  }

  private static String value(String what, JsonNode given)
      throws IOException, ReflectiveOperationException {
    Configuration conf = conf();
    if (what.equals("commits")) {
      return commits();
    }
    if (what.equals("cancel")) {
      return cancel(given.get("jobId").asText());
    }
    String path = given.get("path").asText();
    switch (what) {
      case "find":
        return find(conf, StorePaths.plain(new Path(path)));
      case "read":
        long offset = given.get("offset").asLong();
        return read(conf, StorePaths.plain(new Path(path)), offset, given.get("length").asInt());
      case "recover":
        boolean complete = given.get("complete").asBoolean();
        return Recover.ofSession(conf, path, complete, given.get("force").asBoolean());
      case "clean":
        return Clean.ofSession(
            conf,
            path,
            given.get("olderThan").asText(),
            given.get("dryRun").asBoolean(),
            given.get("discardUnfinished").asBoolean(),
            given.get("force").asBoolean());
      case "ids":
        String id = given.get("commitId").asText();
        return CommitIds.ofSession(conf, path, id, given.get("forget").asBoolean());
      case "held":
        return Held.ofSession(conf, path, given.get("jobId").asText(), given.get("end").asText());
      case "files":
        return TableFiles.ofSession(conf, path);
      case "history":
        return ReportData.ofSession(conf, path);
      default:
        throw new IllegalArgumentException(what + " is not known here");
    }
  }

  /**
   * Does something once for each {@code id} that is given: Spark 3.5 plans a query more than once,
   * and a second recovery would find nothing to tell of.
   */
  private static String once(String id, Callable<String> action)
      throws ExecutionException, InterruptedException {
    // Each call may have a class loader of its own.
    Map<String, FutureTask<String>> answers = JvmWide.value("answers", ConcurrentSkipListMap::new);
    FutureTask<String> own = new FutureTask<>(action);
    FutureTask<String> first = answers.putIfAbsent(id, own);
    if (first == null) {
      own.run();
    }
    while (answers.size() > REMEMBERED) {
      answers.keySet().stream()
          .filter(other -> !other.equals(id))
          .findFirst()
          .ifPresent(answers::remove);
    }
    return (first == null ? own : first).get();
  }

  private static String find(Configuration conf, Path path) throws IOException {
    FileStatus status;
    try {
      status = path.getFileSystem(conf).getFileStatus(path);
    } catch (FileNotFoundException e) {
      return null;
    }
    return Json.line(
        new Json.Fields()
            .with("path", status.getPath().toString())
            .with("isDirectory", status.isDirectory())
            .with("length", status.getLen()));
  }

  /** Bytes of a file, in Base64. */
  private static String read(Configuration conf, Path path, long offset, int length)
      throws IOException {
    try (FSDataInputStream in = path.getFileSystem(conf).open(path)) {
      in.seek(offset);
      return Base64.getEncoder().encodeToString(in.readNBytes(length));
    }
  }

  /**
   * The Hadoop settings of the session that asks, credentials among them. By reflection: the class
   * of sessions is another one in Spark 3 and 4.
   */
  private static Configuration conf() throws ReflectiveOperationException {
    Class<?> sessions =
        Class.forName(SESSION, true, Thread.currentThread().getContextClassLoader());
    Object active = sessions.getMethod("getActiveSession").invoke(null);
    if ((boolean) active.getClass().getMethod("isEmpty").invoke(active)) {
      throw new IllegalStateException(
          "The server computes java_method on an executor, where no session is at hand. Let it"
              + " use its optimizer's rule ConvertToLocalRelation"
              + " (spark.sql.optimizer.excludedRules)");
    }
    Object session = active.getClass().getMethod("get").invoke(active);
    Object state = sessions.getMethod("sessionState").invoke(session);
    return (Configuration) state.getClass().getMethod("newHadoopConf").invoke(state);
  }
}

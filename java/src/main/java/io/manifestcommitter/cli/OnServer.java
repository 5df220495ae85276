// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.progress.JvmWide;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.hadoop.conf.Configuration;

/**
 * What the Python package asks of a Spark Connect server, whose JVM it cannot reach: it asks by
 * Spark's SQL function {@code java_method}. Where that is called on rows that the query itself
 * holds, Spark computes it while it plans the query, in the server, with the session at hand.
 */
public final class OnServer {
  private static final String SESSION = "org.apache.spark.sql.SparkSession";
  private static final int REMEMBERED = 20;
  private static final Set<String> ONCE = Set.of("recover", "clean", "cancel", "ids", "held");

  private OnServer() {}

  /**
   * Does something, and answers also when it fails.
   *
   * @param what see {@link Answers#value}
   * @param arguments an object with what that needs; with {@code path}, and with {@code id}, unique
   *     for each question and in the order of questions, for what is not to be done twice
   * @return an object with {@code value}, or with {@code error}, a text, and {@code missing},
   *     whether nothing is at the path
   */
  public static String call(String what, String arguments) {
    try {
      JsonNode given = Json.read(arguments.getBytes(StandardCharsets.UTF_8));
      Callable<String> answer = () -> answer(what, given.path("path").asText(), arguments);
      return ONCE.contains(what) ? once(given.get("id").asText(), answer) : answer.call();
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      return error(e instanceof ExecutionException ? e.getCause() : e);
    }
  }

  /** Text in any case: the class of an exception is another one in each class loader. */
  private static String answer(String what, String path, String arguments) {
    try {
      return "{\"value\":" + Answers.value(conf(), what, path, arguments) + "}";
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

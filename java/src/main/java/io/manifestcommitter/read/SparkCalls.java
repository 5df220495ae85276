// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.sql.sources.BaseRelation;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.Nil$;

/**
 * Calls of Spark whose parameters or results have other classes in Spark 3.5 (Scala 2.12) and in
 * Spark 4 (Scala 2.13): the sequence, and the session. They are found by name and number of
 * parameters.
 */
final class SparkCalls {
  private SparkCalls() {}

  /** Calls a method of {@code type}, as {@code target} has it. */
  @SuppressWarnings("TypeParameterUnusedInFormals")
  static <T> T call(Object target, Class<?> type, String name, Object... arguments) {
    Method method =
        Arrays.stream(type.getMethods())
            .filter(each -> each.getName().equals(name))
            .filter(each -> each.getParameterCount() == arguments.length)
            .findFirst()
            .orElseThrow(() -> unknown(type + " has no " + name, null));
    return invoke(method, () -> method.invoke(target, arguments));
  }

  /** Makes an object by the constructor that takes so many. */
  static <T> T make(Class<T> type, Object... arguments) {
    Constructor<?> constructor =
        Arrays.stream(type.getConstructors())
            .filter(each -> each.getParameterCount() == arguments.length)
            .findFirst()
            .orElseThrow(() -> unknown(type + " takes other arguments", null));
    return invoke(constructor, () -> constructor.newInstance(arguments));
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T> T invoke(Executable called, Callable<?> call) {
    try {
      return (T) call.call();
    } catch (InvocationTargetException e) {
      throw SparkCalls.<RuntimeException>asIs(e.getCause());
    } catch (Exception e) {
      throw unknown(called + " cannot be called", e);
    }
  }

  /** A list of Scala, which is a sequence of either version. */
  static <T> scala.collection.immutable.List<T> list(List<T> items) {
    @SuppressWarnings("unchecked")
    scala.collection.immutable.List<T> list =
        (scala.collection.immutable.List<T>) (Object) Nil$.MODULE$;
    for (int i = items.size() - 1; i >= 0; i--) {
      list = new $colon$colon<>(items.get(i), list);
    }
    return list;
  }

  private static IllegalStateException unknown(String what, Throwable cause) {
    String spark = String.valueOf(BaseRelation.class.getPackage().getImplementationVersion());
    return new IllegalStateException(
        "This version of Spark is not known to the manifest committer: "
            + what
            + " ("
            + spark
            + "). Read the table with spark.read",
        cause);
  }

  /** What Spark threw, which its callers know, also if it is a checked exception. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> E asIs(Throwable thrown) throws E {
    throw (E) thrown;
  }
}

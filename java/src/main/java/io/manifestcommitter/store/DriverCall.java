// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.apache.hadoop.util.functional.FutureIO;

/**
 * Calls methods of drivers that were found at run time, and tells what HTTP status a store answered
 * with.
 *
 * <p>Connectors wrap answers in exceptions of their own, partly under relocated names, so the
 * status is asked for by the methods that they have. That is {@code int getStatusCode()} of {@code
 * AbfsRestOperationException} in hadoop-azure and {@code HttpResponseException} in Google's client,
 * and {@code getStatusCode().getCode().getHttpStatusCode()} of gRPC's {@code ApiException}.
 */
final class DriverCall {
  /** Too Many Requests, and Service Unavailable, which is Azure's "server busy": RFC 6585, 9110. */
  private static final Set<Integer> REFUSALS = Set.of(429, 503);

  private DriverCall() {}

  /** Calls a method, and throws what it throws. */
  static Object invoke(Method method, Object target, Object... arguments) throws IOException {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw FutureIO.unwrapInnerException(e);
    } catch (IllegalAccessException e) {
      throw new IOException(e);
    }
  }

  /** Calls a public method by its name; its arguments have the types that it declares. */
  static Object call(Object target, String method, Object... arguments) throws IOException {
    Class<?>[] types = new Class<?>[arguments.length];
    for (int number = 0; number < types.length; number++) {
      types[number] = arguments[number].getClass();
    }
    try {
      return invoke(target.getClass().getMethod(method, types), target, arguments);
    } catch (NoSuchMethodException e) {
      throw new IOException(e);
    }
  }

  /** Whether a failure is, or was caused by, an answer that asks for fewer requests. */
  static boolean isRefusal(Throwable failure) {
    return isAmong(REFUSALS, failure);
  }

  /**
   * Whether a failure is, or was caused by, an answer with one of these statuses. Google's
   * connector puts the failures of requests that it makes side by side into an exception as
   * suppressed ones.
   */
  static boolean isAmong(Set<Integer> statuses, Throwable failure) {
    return isAmong(statuses, failure, Collections.newSetFromMap(new IdentityHashMap<>()));
  }

  private static boolean isAmong(Set<Integer> statuses, Throwable failure, Set<Throwable> seen) {
    if (failure == null || !seen.add(failure)) {
      return false;
    }
    return statuses.contains(status(failure))
        || isAmong(statuses, failure.getCause(), seen)
        || Arrays.stream(failure.getSuppressed())
            .anyMatch(suppressed -> isAmong(statuses, suppressed, seen));
  }

  private static int status(Throwable failure) {
    try {
      Object status = asked(failure, "getStatusCode");
      if (status != null && !(status instanceof Integer)) {
        status = asked(asked(status, "getCode"), "getHttpStatusCode");
      }
      return status instanceof Integer ? (Integer) status : 0;
    } catch (ReflectiveOperationException e) {
      return 0;
    }
  }

  private static Object asked(Object object, String method) throws ReflectiveOperationException {
    return object.getClass().getMethod(method).invoke(object);
  }
}

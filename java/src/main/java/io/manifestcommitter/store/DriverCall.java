// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Calls methods of drivers that were found at run time. */
final class DriverCall {
  private DriverCall() {}

  /** Calls a method, and throws what it throws. */
  static Object invoke(Method method, Object target, Object... arguments) throws IOException {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw thrown(e);
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

  /** What was thrown, if it is checked; else throws it. */
  static IOException thrown(InvocationTargetException e) {
    Throwable cause = e.getCause();
    if (cause instanceof RuntimeException) {
      throw (RuntimeException) cause;
    }
    if (cause instanceof Error) {
      throw (Error) cause;
    }
    return cause instanceof IOException ? (IOException) cause : new IOException(cause);
  }
}

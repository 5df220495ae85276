// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives tests the one {@link Hdfs} of this JVM, which is stopped after the last of them. */
public final class HdfsExtension implements ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(HdfsExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Hdfs.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return hdfs(context);
  }

  /** The filesystem, started by the first who asks. */
  static Hdfs hdfs(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(Hdfs.class, key -> Hdfs.start(), Hdfs.class);
  }
}

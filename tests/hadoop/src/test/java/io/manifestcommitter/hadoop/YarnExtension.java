// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives tests the one {@link Yarn} of this JVM, which is stopped after the last of them. */
final class YarnExtension implements ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(YarnExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Yarn.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Hdfs hdfs = HdfsExtension.hdfs(context);
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(Yarn.class, key -> Yarn.start(hdfs), Yarn.class);
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Shows the commits of this JVM where users of Spark look: in the console, beside Spark's stage
 * bar; as an event, which gets into the event log; as metrics. All of it reads {@code progress},
 * and is absent without harm where Spark, or a part of it, is not there.
 */
package io.manifestcommitter.watch;

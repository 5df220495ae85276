// SPDX-License-Identifier: Apache-2.0
/** The Spark protocol: task results travel in Spark's own commit messages. */
package io.manifestcommitter.spark;

// SPDX-License-Identifier: Apache-2.0
/**
 * Which files are a table as it was before or after each job's point of commit, and how Spark reads
 * them.
 */
package io.manifestcommitter.read;

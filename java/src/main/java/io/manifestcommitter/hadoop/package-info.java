// SPDX-License-Identifier: Apache-2.0
/** The job's side of the Hadoop protocol. */
package io.manifestcommitter.hadoop;

// SPDX-License-Identifier: Apache-2.0
/** The Hadoop protocol: its jobs and tasks, and the steps that only it takes. */
package io.manifestcommitter.hadoop;

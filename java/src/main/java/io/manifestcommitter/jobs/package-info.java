// SPDX-License-Identifier: Apache-2.0
/** The jobs that have something in one table: those that wait, those that died, and recovery. */
package io.manifestcommitter.jobs;

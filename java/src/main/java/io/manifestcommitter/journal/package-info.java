// SPDX-License-Identifier: Apache-2.0
/**
 * What a job commit of the Spark protocol leaves in the store so that anyone can complete it or
 * roll it back. Also the heartbeat that tells whether its driver lives.
 */
package io.manifestcommitter.journal;

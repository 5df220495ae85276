// SPDX-License-Identifier: Apache-2.0
/**
 * The steps of a commit, and the two stories they make: {@code CommitTask} and {@code CommitJob}.
 */
package io.manifestcommitter.commit;

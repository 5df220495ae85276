// SPDX-License-Identifier: Apache-2.0
/**
 * lakeFS by its API. A job's files are linked to a hidden branch of its own. One commit holds all
 * of them, and one merge makes them visible. The branch is the journal, and deleting it the fence.
 */
package io.manifestcommitter.lakefs;

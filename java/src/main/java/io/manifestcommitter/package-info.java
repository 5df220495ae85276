// SPDX-License-Identifier: Apache-2.0
/** The Hadoop side of the manifest committer. */
package io.manifestcommitter;

// SPDX-License-Identifier: Apache-2.0
/**
 * What a committer writes about its work, and how it is written: task manifests, the {@code
 * _SUCCESS} report, the list of files and the statistics in them. The JSON is that of Hadoop's
 * manifest committer, so the tools of either side read the files of the other.
 */
package io.manifestcommitter.manifest;

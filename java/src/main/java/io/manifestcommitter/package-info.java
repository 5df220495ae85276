/** The Hadoop side of the manifest committer. */
package io.manifestcommitter;

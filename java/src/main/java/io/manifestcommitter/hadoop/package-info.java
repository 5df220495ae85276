/** The job's side of the Hadoop protocol. */
package io.manifestcommitter.hadoop;

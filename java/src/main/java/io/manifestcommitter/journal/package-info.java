/**
 * What a job commit of the Spark protocol leaves in the store so that it can be finished or taken
 * back by anyone, and how that is done.
 */
package io.manifestcommitter.journal;

/** The options of a job. */
package io.manifestcommitter.config;
